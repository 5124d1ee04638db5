"""The command line: `main.py` adds the commands, each a thin function of the file that `main.py` names."""
