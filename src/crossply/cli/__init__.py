"""The command line: a folder a noun, a module a command, imported when the command is called."""
