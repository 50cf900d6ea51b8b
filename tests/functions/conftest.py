"""The published SDK in an environment of its own, for every test that wants it."""

from tests.support.sdk.environment import sdk_python

__all__ = ["sdk_python"]
