"""function-shell on a control plane that allows commands: they run in containers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.kube.config import load_config
from tests.support import registry
from tests.support.control_plane import running
from tests.support.e2e.scenario import scenario_on
from tests.support.e2e.things import Things
from tests.support.programs import ENGINE, needs
from tests.support.script_images import shell_image

pytestmark = [
    needs(ENGINE),
    pytest.mark.xdist_group("e2e"),
    pytest.mark.embedded_only("it is about a control plane with flags of its own"),
]

PACKAGE = "xpkg.crossplane.io/crossplane-contrib/function-shell:v0.6.0"


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("CROSSPLY_CONTAINER_STORE", str(tmp_path / "images"))
    with registry.docker_registry(tmp_path) as address:
        registry.pushed(address, shell_image(), "shell:v1")
        yield f"{address}/shell:v1"


async def test_commands_run_where_up_allows_them(tmp_path: Path, image: str) -> None:
    plane = tmp_path / "plane"
    plane.mkdir()
    flag = f"--allow-shell-function={image}"
    with running(plane, "up", "--in-memory", "--no-ui", "--data", str(plane), flag):
        async with scenario_on(load_config(str(plane / "kubeconfig"))) as s:
            await s.function("function-shell", PACKAGE)
            things = await Things.defined(s)
            parameters = {
                "apiVersion": "shell.fn.crossplane.io/v1alpha1",
                "kind": "Parameters",
                "shellEnvVars": [{"key": "SIZE", "valueRef": "spec.size"}],
                "shellCommand": 'echo "size $SIZE in $(busybox hostname)"',
                "stdoutField": "status.size",
                "stderrField": "status.mode",
            }
            reference = {"name": "function-shell"}
            await things.compose({"step": "shell", "functionRef": reference, "input": parameters})
            for size in ("3", "4"):
                await things.apply("mine", {"size": size})
                printed = f"size {size} in shell"
                await things.until("mine", lambda xr, printed=printed: xr["status"].get("size") == printed)
