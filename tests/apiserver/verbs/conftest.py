"""Tests of the verbs run as those of the controllers do: in an event loop of their own, with a time limit."""

from tests.apiserver.controllers.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
