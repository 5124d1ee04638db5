"""Statistics: arrays in, results out. Cannot know who annotated."""
