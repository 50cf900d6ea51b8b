"""Kubernetes' protobuf form of the built-in kinds: what Go's clients send and, if they insist, what they get.

Clients of Go send bodies this way when they know a kind (`kubectl create configmap`, `kubectl auth can-i`),
and accept JSON as well. `envelope` wraps an object with its kind; `decode` and `encode` know how messages
become objects and back, by `table`, `leaves` and `one_of`; `wire` knows bytes only.
"""

from crossply.apiserver.protobuf.envelope import decode_object, encode_event, encode_object

__all__ = ["decode_object", "encode_event", "encode_object"]
