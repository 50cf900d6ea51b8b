"""The HTTP side: sockets, limits per user, request bodies, responses, and non-resource URLs."""
