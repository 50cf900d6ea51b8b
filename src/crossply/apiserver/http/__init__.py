"""The HTTP side: sockets, limits per user, reading bodies, sending responses, and URLs that are not resources."""
