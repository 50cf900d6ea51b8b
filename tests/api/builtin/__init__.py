"""Built-in kinds."""
