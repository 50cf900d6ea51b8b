"""What the tests of the store share: a directory, and a disk that can fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.apiserver.disk_faults import FaultySystem, faulty_system


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.fixture
def disk() -> Iterator[FaultySystem]:
    with faulty_system() as system:
        yield system
