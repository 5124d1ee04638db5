"""Tables of papers computed again from their authors' data, cell beside cell."""
