"""Read-only typed views of the API kinds."""
