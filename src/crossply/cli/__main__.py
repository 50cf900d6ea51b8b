"""`python -m crossply.cli` is the crossply command."""

from crossply.cli.main import entry

if __name__ == "__main__":
    entry()
