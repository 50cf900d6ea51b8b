"""What a Function may use of the machine that a control plane runs on."""

from __future__ import annotations

import os

import pytest

from crossply.functions.host_access_policy import EVERYTHING, HostAccess, HostAccessRefused

PROCESS = {"crossply.dev/runtime": "process"}
REMOTE = {"crossply.dev/runtime": "remote"}
DEVELOPMENT = {"render.crossplane.io/runtime": "Development"}
TARGET = "render.crossplane.io/runtime-development-target"


def function(annotations: dict[str, str], package: str = "example.org/f:v1") -> dict:
    return {"metadata": {"name": "f", "annotations": annotations}, "spec": {"package": package}}


USES = [
    ({**PROCESS, "crossply.dev/command": "touch x"}, "it is a command"),
    ({"crossply.dev/file": "{dir}/main.py"}, "it runs in the process of the control plane"),
    ({"crossply.dev/file": "{dir}/main.py:compose"}, "a name of several is not part of the path"),
    ({**PROCESS, "crossply.dev/file": "{dir}/main.py"}, "it runs beside the control plane"),
    ({"crossply.dev/templates": "{dir}/templates"}, "templates are read"),
    ({**REMOTE, "crossply.dev/tls-certs-dir": "{dir}/certificates"}, "a private key is read and used"),
    ({**DEVELOPMENT, "crossply.dev/tls-certs-dir": "{dir}"}, "Crossplane's annotation means the same"),
    ({**DEVELOPMENT, TARGET: "unix:{dir}/s"}, "a socket is one of this machine"),
    ({**DEVELOPMENT, TARGET: "UNIX://{dir}/s"}, "schemes have no case"),
    ({**DEVELOPMENT, TARGET: "unix-abstract:s"}, "such a socket has no path"),
    ({**DEVELOPMENT, TARGET: "vsock:2:9443"}, "the host of a virtual machine"),
]


def written(annotations: dict[str, str], directory: object) -> dict[str, str]:
    return {key: value.format(dir=directory) for key, value in annotations.items()}


@pytest.mark.parametrize(("annotations", "reason"), USES)
def test_a_control_plane_allows_no_host_access_by_default(annotations, reason, tmp_path):
    container_function = function(written(annotations, tmp_path))
    with pytest.raises(HostAccessRefused) as refused:
        HostAccess().check(container_function)
    named = next(key for key in reversed(annotations) if not key.endswith("/runtime"))
    assert f'cannot run Function "f": annotation "{named}" names' in str(refused.value), reason
    assert "install the function as a package" in str(refused.value)
    EVERYTHING.check(container_function)


@pytest.mark.parametrize(("annotations", "reason"), USES)
def test_only_paths_below_an_allowed_directory_may_be_used(annotations, reason, tmp_path):
    (tmp_path / "inside").mkdir()
    access = HostAccess((str(tmp_path / "inside"),))
    for place in (tmp_path, tmp_path / "inside-out", f"{tmp_path}/inside/..", "/etc"):
        with pytest.raises(HostAccessRefused):
            access.check(function(written(annotations, place)))
    inside = function(written(annotations, tmp_path / "inside"))
    if any("{dir}" in value for value in annotations.values()):
        access.check(inside)
    else:
        with pytest.raises(HostAccessRefused, match="--allow-local-commands"):
            access.check(inside)


def test_links_and_odd_paths_do_not_lead_out_of_an_allowed_directory(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    os.symlink("/etc", inside / "link")
    access = HostAccess((str(inside),))
    for odd in (
        {"crossply.dev/file": f"{inside}/link/main.py"},
        {"crossply.dev/file": f"{inside}/\0"},
        {**DEVELOPMENT, TARGET: f"unix:%2Fetc%2F..{inside}%2F..%2Fs"},
    ):
        with pytest.raises(HostAccessRefused):
            access.check(function(odd))


def test_files_in_an_excluded_directory_are_not_allowed_by_one_around_it(tmp_path):
    access = HostAccess((str(tmp_path),), excluded=(str(tmp_path / "data"),))
    access.check(function({"crossply.dev/file": f"{tmp_path}/main.py"}))
    for path in ("data/images/main.py", "x/../data/main.py"):
        with pytest.raises(HostAccessRefused):
            access.check(function({"crossply.dev/file": f"{tmp_path}/{path}"}))


def test_commands_are_a_permission_of_their_own(tmp_path):
    command = function({**PROCESS, "crossply.dev/command": "true", "crossply.dev/file": f"{tmp_path}/m.py"})
    with pytest.raises(HostAccessRefused, match="--allow-local-commands"):
        HostAccess(("/",)).check(command)
    HostAccess(commands=True).check(command)
    file = function({"crossply.dev/file": f"{tmp_path}/m.py"})
    with pytest.raises(HostAccessRefused, match="--allow-local-functions=DIR"):
        HostAccess(commands=True).check(file)


@pytest.mark.parametrize(
    "safe_function",
    [
        function({}),
        function({}, "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.1.0"),
        function({**DEVELOPMENT, TARGET: "localhost:9443"}),
        function({**DEVELOPMENT, TARGET: "dns:///unix:1234"}),
        function({"crossply.dev/command": "touch x"}),
    ],
    ids=["an image", "built in", "an address", "a name that looks like a scheme", "no process"],
)
def test_functions_that_use_nothing_of_the_machine_need_no_permission(safe_function):
    HostAccess().check(safe_function)


def test_a_refusal_shows_the_resolved_path_and_the_allowed_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    access = HostAccess((str(tmp_path / "allowed"),))
    with pytest.raises(HostAccessRefused) as refused:
        access.check(function({"crossply.dev/templates": "other/templates"}))
    assert str(refused.value).endswith(f"(it is {tmp_path}/other/templates; allowed is {tmp_path}/allowed)")
