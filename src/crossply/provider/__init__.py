"""The kit for providers: managed resources in Python."""
