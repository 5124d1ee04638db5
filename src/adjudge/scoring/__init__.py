"""Records in, numbers out, and nothing else: no files, no models, no chance."""
