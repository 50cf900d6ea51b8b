"""Errors of functions that are written with the SDK."""

from __future__ import annotations

from crossply.errors import CrossplyError


class SdkError(CrossplyError):
    """A function written with the SDK cannot be used as asked."""

    code = "CP-380"


class NotAFunction(SdkError):
    """What was marked as a function cannot be called with a request and a response."""

    code = "CP-381"
    hint = "write: def compose(req, rsp)"


class FunctionFileError(SdkError):
    """The file of a function cannot be loaded, or there is no function in it."""

    code = "CP-382"
    hint = "correct the Python file that the message names"


class ValueRefused(SdkError):
    """A value that a function wants to send is not one that Kubernetes objects can hold."""

    code = "CP-383"
    hint = "objects hold mappings, lists, strings, finite numbers, booleans and None"


class Fatal(Exception):
    """Raise it in a function to end the run: its text is the message that users of the XR read."""
