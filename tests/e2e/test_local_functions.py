"""Functions that are files or commands of a control plane's machine: they run only where that is allowed."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import textwrap
from collections.abc import Iterator

import orjson
import pytest

from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.api_servers import embedded
from tests.support.control_plane import running
from tests.support.e2e.plans import Plans
from tests.support.e2e.scenario import FUNCTION, Scenario, condition, scenario_on
from tests.support.e2e.things import FAILED, READY, Things

pytestmark = [
    pytest.mark.xdist_group("e2e"),
    pytest.mark.embedded_only("it is about control planes with flags of their own"),
]

REVISION = Kind("pkg.crossplane.io", "v1", "FunctionRevision", "functionrevisions", False)
UNHEALTHY = condition("Healthy", "False", "UnhealthyPackageRevision")
HEALTHY = condition("Healthy", "True", "HealthyPackageRevision")
CONTROLLER = ("--shards=0", "--metrics-port=0", "--health-probe-port=0", "--enable-webhooks=false")

PYTHON = """
from crossply.sdk import function

open({witness!r}, "a").close()


@function
def compose(req, rsp):
    rsp.desired["settings"] = {{"apiVersion": "v1", "kind": "ConfigMap", "data": {{"by": "file"}}}}
    rsp.desired["settings"].ready = True
"""
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: settings
    gotemplating.fn.crossplane.io/ready: "True"
data: {by: templates}
"""


class Machine:
    """Files of the machine, and a file that shows that something was run."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.witness = directory / "witness"
        (directory / "templates").mkdir(parents=True)
        (directory / "templates" / "main.yaml").write_text(TEMPLATE)
        (directory / "main.py").write_text(textwrap.dedent(PYTHON).format(witness=str(self.witness)))

    def annotations(self) -> dict[str, dict[str, str]]:
        """All the ways in which a Function can use something of this machine."""
        certificates = {"crossply.dev/runtime": "remote", "crossply.dev/tls-certs-dir": str(self.directory)}
        target = "render.crossplane.io/runtime-development-target"
        return {
            "command": {
                "crossply.dev/runtime": "process",
                "crossply.dev/command": f"sh -c 'touch {self.witness}' {{address}}",
            },
            "file": {"crossply.dev/file": str(self.directory / "main.py")},
            "process": {
                "crossply.dev/runtime": "process",
                "crossply.dev/file": str(self.directory / "main.py"),
            },
            "templates": {"crossply.dev/templates": str(self.directory / "templates")},
            "certificates": certificates,
            "socket": {"crossply.dev/runtime": "remote", target: f"unix:{self.directory}/socket"},
        }


@contextlib.contextmanager
def up(directory: pathlib.Path, *flags: str) -> Iterator[str]:
    with running(directory, "up", "--in-memory", "--data", str(directory), *flags):
        yield str(directory / "kubeconfig")


@contextlib.contextmanager
def controller(directory: pathlib.Path, *flags: str) -> Iterator[str]:
    with embedded(directory) as server:
        packages = ("--xpkg-cache-dir", str(directory / "packages"))
        with running(
            directory, "controller", "--kubeconfig", server.kubeconfig, *CONTROLLER, *packages, *flags
        ):
            yield server.kubeconfig


async def calling(s: Scenario, kind: str, annotations: dict[str, str]) -> Things:
    """A kind of composite resource whose only step calls a Function with these annotations."""
    name = f"{s.id}-{kind}"
    await s.function(name, "example.org/function:v1", **annotations)
    things = await Things.defined(s, kind=f"T{kind}")
    await things.compose({"step": "call", "functionRef": {"name": name}}, name=name)
    return things


def message(obj: Object, type_: str) -> str:
    return next(
        status_condition.get("message", "")
        for status_condition in obj["status"]["conditions"]
        if status_condition["type"] == type_
    )


async def revision_of(s: Scenario, name: str) -> Object:
    [function_revision] = [
        revision
        for revision in map(orjson.loads, (await s.client.list(REVISION)).items)
        if revision["metadata"]["labels"]["pkg.crossplane.io/package"] == name
    ]
    return function_revision


async def refused(s: Scenario, kind: str, annotations: dict[str, str]) -> None:
    """The Function, its revision and the composite resource report why it is not run, with a remedy."""
    things = await calling(s, kind, annotations)
    await things.apply("mine")
    named = list(annotations)[-1]
    function = await s.until(FUNCTION, f"{s.id}-{kind}", UNHEALTHY)
    revision = await revision_of(s, f"{s.id}-{kind}")
    xr = await s.until(things.kind, "mine", FAILED)
    for obj, type_ in ((function, "Healthy"), (revision, "RuntimeHealthy"), (xr, "Synced")):
        text = message(obj, type_)
        assert f'annotation "{named}" names' in text
        assert "which its operator does not allow: install the function as a package" in text


@pytest.mark.parametrize(
    "plane",
    [
        lambda directory: up(directory),
        lambda directory: controller(directory, "--package-runtime=Container"),
        lambda directory: controller(directory, "--package-runtime=External"),
        lambda directory: controller(directory),
    ],
    ids=["up", "controller, Container", "controller, External", "controller, Deployment"],
)
async def test_nothing_of_the_machine_is_run_or_read_and_conditions_have_the_reason(plane, tmp_path):
    machine = Machine(tmp_path / "machine")
    (tmp_path / "plane").mkdir()

    with plane(tmp_path / "plane") as kubeconfig:
        async with scenario_on(load_config(kubeconfig)) as s:
            await asyncio.gather(
                *(refused(s, kind, annotations) for kind, annotations in machine.annotations().items())
            )
    assert not machine.witness.exists()


async def test_files_below_an_allowed_directory_run_and_others_do_not(tmp_path):
    allowed, other = Machine(tmp_path / "allowed"), Machine(tmp_path / "other")
    (tmp_path / "plane").mkdir()
    image = Machine(tmp_path / "plane" / "images" / "unpacked")
    runnable = ("file", "process", "templates")

    async def works(s: Scenario, kind: str) -> None:
        things = await calling(s, kind, allowed.annotations()[kind])
        await things.apply("mine")
        await s.until(things.kind, "mine", READY)
        await s.until(FUNCTION, f"{s.id}-{kind}", HEALTHY)

    async def scenario(s: Scenario) -> None:
        await asyncio.gather(*(works(s, kind) for kind in runnable))
        for kind in ("file", "templates", "certificates", "socket"):
            await refused(s, f"other{kind}", other.annotations()[kind])
        await refused(s, "image", image.annotations()["file"])
        await refused(s, "command", allowed.annotations()["command"])

    directories = (str(allowed.directory), str(tmp_path / "plane"))
    with up(tmp_path / "plane", f"--allow-local-functions={','.join(directories)}") as kubeconfig:
        async with scenario_on(load_config(kubeconfig)) as s:
            await scenario(s)
    assert allowed.witness.exists()
    assert not other.witness.exists()
    assert not image.witness.exists(), "a package may have brought it"


async def test_commands_run_where_they_are_allowed(tmp_path):
    machine = Machine(tmp_path / "machine")
    (tmp_path / "plane").mkdir()

    with up(tmp_path / "plane", "--allow-local-commands") as kubeconfig:
        async with scenario_on(load_config(kubeconfig)) as s:
            things = await calling(s, "command", machine.annotations()["command"])
            await things.apply("mine")
            await s.until(
                things.kind, "mine", lambda xr: FAILED(xr) and "its process ended" in str(xr["status"])
            )
    assert machine.witness.exists()


async def test_a_plan_runs_only_the_functions_of_its_own_files_or_allowed_ones(tmp_path):
    machine = Machine(tmp_path / "machine")
    plane = tmp_path / "plane"
    plane.mkdir()
    file = str(machine.directory / "main.py")

    with up(plane) as kubeconfig:
        async with scenario_on(load_config(kubeconfig)) as s:
            plans = Plans(s, tmp_path)
            things = await calling(s, "file", {"crossply.dev/file": file})
            xr = {
                "apiVersion": things.kind.api_version,
                "kind": things.kind.kind,
                "metadata": {"name": "mine", "namespace": s.id},
                "spec": {},
            }
            function = {
                "apiVersion": FUNCTION.api_version,
                "kind": "Function",
                "metadata": {"name": f"{s.id}-file", "annotations": {"crossply.dev/file": file}},
                "spec": {"package": "example.org/function:v1"},
            }
            plan = await plans.of(xr)
            assert plan.code == 1
            assert 'annotation \\"crossply.dev/file\\" names a Python file' in plan.text
            assert not machine.witness.exists(), "the control plane's Functions are not run here"
            allowed = await plans.of(
                xr, words=("-o", "json", "--allow-local-functions", str(machine.directory))
            )
            assert allowed.code == 3, allowed.text
            assert machine.witness.exists()
            machine.witness.unlink()
            named = await plans.of(xr, function)
            assert named.code == 3, named.text
            assert machine.witness.exists()
