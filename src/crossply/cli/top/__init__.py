"""`crossply top`: figures of a running control plane, from its metrics and its API."""
