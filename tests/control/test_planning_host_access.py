"""Which Functions a plan runs from the files and commands of its own machine."""

from __future__ import annotations

import pytest

from crossply.control.planning.planned_functions import host_access_check
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused

COMMAND = {"crossply.dev/runtime": "process", "crossply.dev/command": "touch x"}
FILE = {"crossply.dev/file": "main.py"}


def function(annotations: dict[str, str], name: str = "f") -> dict:
    return {
        "kind": "Function",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"package": "example.org/f:v1"},
    }


def test_functions_named_in_the_planned_files_are_run():
    check = host_access_check([function(FILE), function(COMMAND, "g")], HostAccess())
    check(function({**FILE, "team": "blue"}))
    check(function(COMMAND, "g"))


@pytest.mark.parametrize(
    ("written", "live"),
    [
        ((), function(FILE)),
        ((function(FILE, "another"),), function(FILE)),
        ((function(FILE),), function({"crossply.dev/file": "other.py"})),
        ((function(FILE),), function({**FILE, **COMMAND})),
        ((function({}),), function(FILE)),
        (({**function(FILE), "kind": "Configuration"},), function(FILE)),
    ],
    ids=["no file", "another name", "another value", "a command besides", "no annotation", "another kind"],
)
def test_functions_that_only_the_control_plane_names_are_not_run_unless_allowed(written, live):
    with pytest.raises(HostAccessRefused):
        host_access_check(written, HostAccess())(live)
    host_access_check(written, HostAccess(("/",), commands=True))(live)
