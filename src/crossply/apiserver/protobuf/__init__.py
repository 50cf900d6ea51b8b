"""Kubernetes' protobuf form of the built-in kinds, as far as requests need it: reading.

Clients written in Go send bodies this way when they know a kind (`kubectl auth can-i`, `kubectl create
token`); answers may always be JSON, which they accept as well.
"""

from crossply.apiserver.protobuf.decode import decode_object

__all__ = ["decode_object"]
