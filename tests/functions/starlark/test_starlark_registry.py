"""function-starlark: modules from registries, fetched once and cached by digest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Response
from crossply.functions.builtin.starlark.registry_artifacts import CACHE, REGISTRIES
from tests.support.functions.starlark import answered
from tests.support.functions.starlark_artifacts import push_archive, push_files
from tests.support.programs import needs
from tests.support.registry import docker_registry

pytestmark = [needs("docker-registry"), pytest.mark.xdist_group("starlark-registry")]

LIBRARY = {
    "naming.star": 'load("./parts.star", "SUFFIX")\n\ndef name(text):\n    return text + SUFFIX\n',
    "parts.star": 'SUFFIX = "-lib"\n_private = 1\n',
    "deep/er.star": '"""Example:\n\nload("oci://nowhere.example.org/x:v1/y.star", "z")\n"""\nDEEP = "deep"\n',
    "README.md": "no module",
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        push_files(address, "star/lib:v1", LIBRARY)
        push_archive(
            address, "star/packed:v1", {"./naming.star": 'def name(text):\n    return "packed-" + text\n'}
        )
        load = f'load("oci://{address}/star/lib:v1/naming.star", "name")\n'
        using = f"{load}\ndef twice(text):\n    return name(name(text))\n"
        push_files(address, "star/using:v1", {"twice.star": using})
        yield address


@pytest.fixture(autouse=True)
def allowed(registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REGISTRIES, f"other.example.org, {registry}")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))


def value(source: str, **spec: Any) -> Any:
    """What a script sets in the status of the XR."""
    response = answered(source, spec=spec)
    assert [result.message for result in response.results if result.severity == SEVERITY_FATAL] == []
    assert response.desired is not None
    assert response.desired.composite is not None
    return response.desired.composite.object["status"]["v"]


def problem(response: Response) -> str:
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    return response.results[0].message


@pytest.mark.parametrize(
    ("load", "expected", "reason"),
    [
        (
            'load("oci://REGISTRY/star/lib:v1/naming.star", v = "name")',
            "a-lib",
            "a file that loads another one",
        ),
        (
            'load("oci://REGISTRY/star/packed:v1/naming.star", v = "name")',
            "packed-a",
            "all files in one layer",
        ),
        ('load("oci://REGISTRY/star/using:v1/twice.star", v = "twice")', "a-lib-lib", "another artifact"),
        ('load("lib:v1/naming.star", v = "name")', "a-lib", "the default registry"),
        (
            'load("lib:v1/naming.star", lib = "*")\ndef v(text):\n    return lib.name(text)',
            "a-lib",
            "a namespace",
        ),
        (
            'load("lib:v1/deep/er.star", "DEEP")\ndef v(text):\n    return DEEP',
            "deep",
            "a file in a directory",
        ),
    ],
)
def test_a_module_comes_from_a_registry(registry: str, load: str, expected: str, reason: str) -> None:
    source = f'{load.replace("REGISTRY", registry)}\nset_xr_status("v", v("a"))\n'
    assert value(source, ociDefaultRegistry=f"oci://{registry}/star/") == expected, reason


def test_a_module_of_the_input_loads_one_of_a_registry(registry: str) -> None:
    modules = {"own.star": f'load("oci://{registry}/star/lib:v1/parts.star", "SUFFIX")\nown = SUFFIX\n'}
    assert value('load("own.star", "own")\nset_xr_status("v", own)', modules=modules) == "-lib"


def test_a_fetched_artifact_needs_no_registry_and_a_digest_pins_it(registry: str, tmp_path: Path) -> None:
    with docker_registry(tmp_path) as address:
        registries = pytest.MonkeyPatch()
        registries.setenv(REGISTRIES, address)
        first = push_files(address, "star/x:v1", {"a.star": "v = 1\n"})
        by_tag = f'load("oci://{address}/star/x:v1/a.star", "v")\nset_xr_status("v", v)'
        by_digest = f'load("oci://{address}/star/x@{first}/a.star", "v")\nset_xr_status("v", v)'
        assert value(by_tag) == 1
        push_files(address, "star/x:v1", {"a.star": "v = 2\n"})
        assert value(by_tag) == 1, "what a tag stands for is remembered for a while"
        assert value(by_digest) == 1
        shutil.rmtree(tmp_path / "cache" / "tags")
        assert value(by_tag) == 2
        assert value(by_digest) == 1
    assert (value(by_tag), value(by_digest)) == (2, 1), "the registry is gone"
    registries.undo()


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            'load("oci://REGISTRY/star/lib:v1/no.star", "x")',
            'resolving OCI modules: file "no.star" not found in OCI artifact REGISTRY/star/lib:v1; available '
            "files: deep/er.star, naming.star, parts.star",
        ),
        ('load("oci://REGISTRY/star/lib:v9/a.star", "x")', "resolving OCI modules: fetching OCI artifact"),
        ('load("oci://REGISTRY/star/image:v1/a.star", "x")', 'unexpected artifact type "application/x"'),
        (
            'load("oci://REGISTRY/star/out:v1/a.star", "x")',
            'path traversal detected in layer title "../a.star"',
        ),
        ('load("oci://REGISTRY/star/huge:v1/a.star", "x")', "exceeds maximum size (1048576 bytes)"),
        ('load("oci://REGISTRY/star/lib:v1/parts.star", "_private")', "names with leading underscores"),
    ],
)
def test_a_module_that_cannot_be_used_is_fatal(registry: str, load: str, message: str) -> None:
    push_files(registry, "star/image:v1", {"a.star": "x = 1"}, "application/x")
    push_files(registry, "star/out:v1", {"../a.star": "x = 1"})
    push_files(registry, "star/huge:v1", {"a.star": "#" * (1 << 20) + "\n"})
    assert message.replace("REGISTRY", registry) in problem(answered(load.replace("REGISTRY", registry)))


def test_a_registry_in_a_private_network_has_to_be_listed(
    registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REGISTRIES)
    message = problem(answered(f'load("oci://{registry}/star/lib:v1/parts.star", "SUFFIX")'))
    assert f"registry {registry} is inside of a private network" in message
    assert REGISTRIES in message
