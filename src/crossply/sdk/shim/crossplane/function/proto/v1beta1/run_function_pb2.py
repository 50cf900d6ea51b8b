"""The messages of version v1beta1."""

from crossply.functions.proto.v1beta1.run_function_pb2 import *  # noqa: F403 - the names are the protocol's
