"""`python -m adjudge`: the command, of just this Python."""

from adjudge.cli.main import main

if __name__ == "__main__":
    main()
