"""Coroutine tests run in an event loop of their own, with a time limit."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Run coroutine tests."""
    test: Any = pyfuncitem.obj
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            asyncio.run(asyncio.wait_for(test(**arguments), 30))

        pyfuncitem.obj = run
