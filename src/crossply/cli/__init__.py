"""The command line: every command in a file of its own, imported when it is called."""
