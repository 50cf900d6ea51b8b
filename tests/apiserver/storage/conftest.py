"""Every test of the store runs inside an event loop of its own."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.storage.faults import FaultySystem, faulty_system


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Run coroutine tests, with a time limit: a store that never answers is a failure too."""
    test: Any = pyfuncitem.obj
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            asyncio.run(asyncio.wait_for(test(**arguments), 30))

        pyfuncitem.obj = run


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.fixture
def disk() -> Iterator[FaultySystem]:
    with faulty_system() as system:
        yield system
