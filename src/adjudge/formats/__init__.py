"""Files in and out: one module per format. Everything above works with `core`'s words only."""
