"""Images of functions and providers have what these import of Crossply, and little else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crossply.xpkg.crossply_modules import NAME, ROOT, own_files
from crossply.xpkg.python_install import Target, install
from crossply.xpkg.runtime_requirements import FUNCTION, SDK_EXTRAS, Needs, needs_of
from crossply.xpkg.wheel_writer import write_own_wheel

MEGABYTE = 1_000_000
PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "acme"
version = "1.0"
dependencies = ["{dependency}"]
[tool.hatch.build.targets.wheel]
packages = ["acme"]
"""
FUNCTION_SOURCE = "from crossply.sdk import function\n\n@function\ndef compose(req, rsp): ...\n"
OLD_SDK = """\
from crossplane.function import response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(self, req, context):
        rsp = response.to(req)
        response.normal(rsp, "as before")
        return rsp
"""
CALL = """\
import asyncio, sys
from crossply.sdk.function_file import load
print(load(sys.argv[1]).function.answer(b""))
"""

Installed = Callable[..., Path]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Installs a package `acme` of one module, as into an image, without an index; where it is."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")

    def install_source(source: str, dependency: str = "crossply", serving: Needs = FUNCTION) -> Path:
        package = tmp_path / "project" / "acme"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "main.py").write_text(source)
        (package.parent / "pyproject.toml").write_text(PYPROJECT.format(dependency=dependency))
        site = tmp_path / "site"
        install(str(package.parent), str(site), Target("amd64"), serving)
        return site

    return install_source


def run(site: Path, code: str, *words: str) -> str:
    """What a program prints that has nothing but what is installed there."""
    command = [sys.executable, "-S", "-P", "-c", code, *words]
    done = subprocess.run(command, env={"PYTHONPATH": str(site)}, capture_output=True, text=True, cwd=site)
    assert done.returncode == 0, done.stderr
    return done.stdout


def size(site: Path) -> int:
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file())


def distributions(site: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in site.glob("*.dist-info")}


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("function", "from crossply.sdk.__main__ import main; main(['acme/main.py', '--help'])"),
        ("provider", "from crossply.provider.process import main; main(['--help'])"),
    ],
)
def test_crossply_sdk_is_at_most_twenty_megabytes_and_serves(
    installed: Installed, extra: str, code: str
) -> None:
    site = installed(FUNCTION_SOURCE, f"crossply-sdk[{extra}]>=0.2", SDK_EXTRAS[extra])
    assert size(site) <= 20 * MEGABYTE
    assert "crossply_sdk" in distributions(site)
    assert not {"crossply", "protobuf", "uvloop"} & distributions(site)
    assert "usage:" in run(site, code)


def test_a_function_for_the_published_sdk_gets_protobuf(installed: Installed) -> None:
    site = installed(OLD_SDK)
    assert "protobuf" in distributions(site)
    assert "as before" in run(site, CALL, str(site / "acme" / "main.py"))


def test_a_function_that_imports_more_of_crossply_gets_that_too(tmp_path: Path) -> None:
    needs = needs_of([b"from crossply.kube import list_options"], FUNCTION)
    with zipfile.ZipFile(write_own_wheel(str(tmp_path), needs)) as wheel:
        names = set(wheel.namelist())
        wheel.extractall(tmp_path)
    assert "crossply/kube/informer.py" not in names
    code = "from crossply.kube import list_options; print(list_options.__name__)"
    assert run(tmp_path, code) == "crossply.kube.list_options\n"


def test_everything_is_needed_by_a_program_for_another_python() -> None:
    assert needs_of([b"def broken(:"], FUNCTION) == Needs((NAME,), (*FUNCTION.requirements, "protobuf"))
    assert own_files([NAME]) == sorted(every_file())


def every_file() -> Iterator[str]:
    for folder, _, names in os.walk(ROOT):
        if not folder.endswith("__pycache__"):
            yield from (os.path.relpath(os.path.join(folder, name), ROOT) for name in names)


def test_imports_for_type_checkers_do_not_count() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import crossply.kube.client\n"
    assert needs_of([source.encode()], FUNCTION) == FUNCTION
