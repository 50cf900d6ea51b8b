"""A resource and everything below it, loaded from an API server."""
