"""Our own files: test sets and records as JSON lines, run directories, the call store and its traces."""
