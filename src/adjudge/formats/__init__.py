"""Files in and out: every format is read into, and written from, the words of `core`."""
