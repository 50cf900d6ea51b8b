"""The event loop and the thread of heavy work may both be the first that read or write objects of a kind."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType, ModuleType
from typing import Any

import pytest

from crossply.apiserver.protobuf.decode import decode_message
from crossply.apiserver.protobuf.encode import encode_message
from tests.support.apiserver.builtin_kinds import deployment, resource_of

DEPLOYMENT = deployment(replicas=3)
MESSAGE = "io.k8s.api.apps.v1.Deployment"
Work = Callable[[ModuleType], Any]


def normalise(module: ModuleType) -> Any:
    return module.normalised(resource_of(DEPLOYMENT), "v1", DEPLOYMENT)


def write(module: ModuleType) -> Any:
    return module.encode_message(MESSAGE, DEPLOYMENT)


def read(module: ModuleType) -> Any:
    return module.decode_message(MESSAGE, encode_message(MESSAGE, DEPLOYMENT))


def expand(module: ModuleType) -> Any:
    return module.structural(MESSAGE)["properties"]["spec"]


def unused(name: str) -> ModuleType:
    """A module as it is after the start, whatever other tests have done."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls_in(work: Work, module: ModuleType) -> int:
    """How many functions the first work in a module calls."""
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    _profiled(work, module, count)
    return calls


def results_of_another_thread(work: Work, module: ModuleType, place: int) -> list[Any]:
    """What another thread gets when the first work in a module has come to a call; nothing if it ends before.

    Work makes fewer calls where caches that all modules share have been filled since the calls were counted.
    """
    results: list[Any] = []
    remaining = place

    def interrupt(_: FrameType, event: str, __: Any) -> None:
        nonlocal remaining
        remaining -= event == "call"
        if remaining == 0 and not results:
            results.append(other.submit(work, module).result())

    with ThreadPoolExecutor(1) as other:
        _profiled(work, module, interrupt)
    return results


def _profiled(work: Work, module: ModuleType, profile: Callable[[FrameType, str, Any], None]) -> None:
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work(module)
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("crossply.apiserver.builtin.go_round_trip", normalise),
        ("crossply.apiserver.builtin.resources", expand),
        ("crossply.apiserver.protobuf.encode", write),
        ("crossply.apiserver.protobuf.decode", read),
    ],
    ids=["read JSON", "list known fields", "write protobuf", "read protobuf"],
)
def test_both_threads_get_the_whole_object(name: str, work: Work) -> None:
    whole = work(unused(name))
    places = range(1, calls_in(work, unused(name)), 10)
    results = [result for place in places for result in results_of_another_thread(work, unused(name), place)]
    assert len(results) > 10
    assert [result for result in results if result != whole] == []


def test_the_object_of_the_test_has_fields_at_every_depth() -> None:
    assert decode_message(MESSAGE, encode_message(MESSAGE, DEPLOYMENT))["spec"]["template"]["spec"][
        "containers"
    ]
