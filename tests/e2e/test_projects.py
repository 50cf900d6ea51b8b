"""What `crossply project` builds and pushes can be installed: the Configuration brings its own functions."""

from __future__ import annotations

import pytest

from crossply.values import yaml
from crossply.xpkg.archive_writer import write_archive
from tests.support.e2e.packages import CONFIGURATION, FUNCTION, HEALTHY, Packages, crossply, definition
from tests.support.e2e.scenario import DEFINITION, Scenario
from tests.support.images import package
from tests.support.programs import needs

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]


async def test_a_project_that_was_pushed_is_installed_with_its_functions(s: Scenario, registry, tmp_path):
    """The function of a project is a dependency by its digest, and gets the name that Compositions call."""

    packages = Packages(s, registry)
    listed = {"source": "Tarball", "tarball": {"name": "fast", "pathPrefix": "fast"}}
    project = {
        "apiVersion": "dev.crossplane.io/v1alpha1",
        "kind": "Project",
        "metadata": {"name": "platform"},
        "spec": {
            "repository": packages.source("platform"),
            "functions": [listed],
            "architectures": ["amd64"],
        },
    }
    file = tmp_path / "crossplane-project.yaml"
    file.write_text(yaml.dump(project))
    (tmp_path / "apis").mkdir()
    api = definition(s)
    (tmp_path / "apis" / "definition.yaml").write_text(yaml.dump(api))
    write_archive(package(), str(tmp_path / "fast-amd64.tar"))
    words = ("-f", str(file), "-o", str(tmp_path / "_output"))
    await crossply(s, "project", "build", *words, directory=tmp_path)
    push = await crossply(s, "project", "push", *words, "-t", "v1.0.0", directory=tmp_path)
    assert push == f'Pushed project "platform" to {packages.source("platform")}:v1.0.0\n'

    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    await s.until(CONFIGURATION, name, HEALTHY)
    assert await s.client.get(DEFINITION, api["metadata"]["name"]) is not None
    function = await s.client.get(FUNCTION, packages.installed_as("platformfast"))
    assert function is not None
    source, _, digest = function["spec"]["package"].partition("@")
    assert source == packages.source("platform_fast")
    assert (await packages.locked())["platform_fast"]["version"] == digest

    await packages.remove(CONFIGURATION, name)
    await packages.remove(FUNCTION, packages.installed_as("platformfast"))
