"""A small platform to compose with: one kind, functions that are plain Python, and a world of objects."""

from __future__ import annotations

import pytest

from tests.support.composition_platform import Platform


@pytest.fixture
def platform() -> Platform:
    return Platform()
