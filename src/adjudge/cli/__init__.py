"""The command line: `main.py` adds the commands, each is one thin file."""
