"""Functions of a cluster that a run is replayed with, or exported with, get nothing of the user's machine."""

from __future__ import annotations

import pathlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crossply.cli.runs.replay_functions import functions_of_cluster
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.kube.client import Client
from crossply.runs.model import Run
from crossply.values import Object
from tests.support.in_memory_api import InMemoryApi

RUN = cast(Run, SimpleNamespace(steps=[]))


def _function(**annotations: str) -> Object:
    metadata: dict[str, Any] = {
        "name": "function-x",
        "annotations": {f"crossply.dev/{name}": value for name, value in annotations.items()},
    }
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": metadata,
        "spec": {"package": "registry.example/x:v1"},
    }


async def _resolved(function: Object, access: HostAccess) -> list[Object]:
    client = cast(Client, InMemoryApi([function]))
    return await functions_of_cluster(client, RUN, ["function-x"], access)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(_function(runtime="process", command="touch pwned"), id="a command"),
        pytest.param(_function(file="/home/user/function.py"), id="a Python file"),
        pytest.param(_function(templates="/etc"), id="templates"),
        pytest.param(_function(kcl="/etc"), id="KCL files"),
    ],
)
async def test_annotations_in_the_cluster_run_and_read_nothing_here(function: Object) -> None:
    with pytest.raises(HostAccessRefused) as refused:
        await _resolved(function, HostAccess())
    assert "runs replay --function" in refused.value.hint


async def test_what_the_flags_allow_is_run(tmp_path: pathlib.Path) -> None:
    file = _function(file=str(tmp_path / "function.py"))
    assert await _resolved(file, HostAccess((str(tmp_path),))) == [file]
    command = _function(runtime="process", command="serve")
    assert await _resolved(command, HostAccess(commands=True)) == [command]


async def test_a_package_needs_no_flag() -> None:
    assert await _resolved(_function(), HostAccess()) == [_function()]
