"""Kubernetes' protobuf form of the built-in kinds.

Go clients send bodies this way when they know a kind (`kubectl create configmap`, `kubectl auth can-i`), and
accept JSON as well. `envelope` wraps an object with its kind; `decode` and `encode` convert messages to
objects and back, by `message_table` and `single_value_messages`; `wire` is the wire format.
"""

from crossply.apiserver.protobuf.envelope import decode_object, encode_event, encode_object

__all__ = ["decode_object", "encode_event", "encode_object"]
