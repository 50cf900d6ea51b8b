"""Generated from the .proto files; never edited."""
