"""Directories, files, web servers and SQLite databases of one machine as managed resources."""
