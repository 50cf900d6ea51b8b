"""A Python project becomes the runtime of a package without a container engine."""

from __future__ import annotations

import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image import Image, digest
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.python_install import PipFailed, Target, install
from crossply.xpkg.python_project_image import ROOT, read_project, with_project
from tests.support.cli.package_server import empty_wheel
from tests.support.images import archive, image, member

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "Function-Greet"
version = "0.1.0"
[project.scripts]
function = "greet.main:cli"
[tool.hatch.build.targets.wheel]
packages = ["greet"]
"""


@pytest.fixture(autouse=True, scope="module")
def offline() -> Iterator[None]:
    """Nothing is fetched: what builds a project is installed with Crossply."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", "")
        yield


@pytest.fixture(scope="module")
def project_image(offline: None, tmp_path_factory: pytest.TempPathFactory) -> Image:
    return with_project(base(), project(tmp_path_factory.mktemp("made") / "src"))


def project(directory: Path, text: str = PROJECT) -> str:
    (directory / "greet").mkdir(parents=True)
    (directory / "pyproject.toml").write_text(text)
    (directory / "greet" / "__init__.py").write_text("")
    (directory / "greet" / "main.py").write_text("def cli():\n    print('hello from inside')\n    return 7\n")
    return str(directory)


def base() -> Image:
    picture = image(archive([member("etc/python", b"1")]))
    return picture._replace(config={**picture.config, "config": {"Env": ["PATH=/usr/bin"], "Cmd": ["sh"]}})


def test_the_project_runs_from_the_unpacked_image(project_image: Image, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    unpack(project_image, str(tmp_path / "root"))
    inner = project_image.config["config"]
    words = [sys.executable, "-S", *inner["Entrypoint"][1:]]
    environ = {"PYTHONPATH": str(tmp_path / "root" / ROOT)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "hello from inside\n")
    assert inner["Env"][:2] == ["PATH=/usr/bin", f"PYTHONPATH=/{ROOT}"]
    assert inner["User"] == "2000:2000"
    assert "Cmd" not in inner
    assert inner["ExposedPorts"] == {"9443/tcp": {}}


def test_modules_are_compiled_and_name_no_build_directory(project_image: Image, tmp_path: Path) -> None:
    unpack(project_image, str(tmp_path))
    [compiled] = (tmp_path / ROOT / "greet" / "__pycache__").glob("main.*.pyc")
    code = compiled.read_bytes()
    assert int.from_bytes(code[4:8], "little") == 0b01, (
        "it is valid for its source, whenever that was written"
    )
    assert f"/{ROOT}/greet/main.py".encode() in code
    assert b"crossply-python-" not in code


def test_the_same_project_gives_the_same_image_wherever_it_is(project_image: Image, tmp_path: Path) -> None:
    assert digest(with_project(base(), project(tmp_path / "elsewhere"))) == digest(project_image)


def test_the_modes_of_dependencies_follow_from_what_is_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels of an index mark modules as executable, and those made of installed packages mark nothing."""
    files = {"__init__.py": b"", "core.abi3.so": b"\x7fELF", "tool": b"\x7fELF", "run.sh": b"#!/bin/sh\n"}
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    text = PROJECT.replace('version = "0.1.0"', 'version = "0.1.0"\ndependencies = ["lamps"]')
    images = []
    for mode in (0o644, 0o755):
        empty_wheel(tmp_path, "lamps", "1.0")
        with zipfile.ZipFile(tmp_path / "lamps-1.0-py3-none-any.whl", "a") as wheel:
            for name, data in files.items():
                entry = zipfile.ZipInfo(f"lamps/{name}")
                entry.external_attr = (stat.S_IFREG | mode) << 16
                wheel.writestr(entry, data)
        images.append(with_project(base(), project(tmp_path / f"{mode:o}", text)))
    assert digest(images[0]) == digest(images[1])
    (tmp_path / "root").mkdir()
    unpack(images[0], str(tmp_path / "root"))
    lamps = tmp_path / "root" / ROOT / "lamps"
    assert {name for name in files if (lamps / name).stat().st_mode & 0o111} == {"tool", "run.sh"}


def test_the_entry_point_is_the_script_called_function_or_the_only_one(tmp_path: Path) -> None:
    project_file = read_project(project(tmp_path / "a"))
    assert (project_file.module, project_file.function, project_file.distribution) == (
        "greet.main",
        "cli",
        "function_greet",
    )
    two = PROJECT.replace("function = ", 'other = "x:y"\nserve = ')
    with pytest.raises(BuildFailed, match="does not say what to run"):
        read_project(project(tmp_path / "b", two))
    with pytest.raises(BuildFailed, match="no such file"):
        read_project(str(tmp_path / "missing"))


def test_the_output_of_pip_is_reported(tmp_path: Path) -> None:
    missing = PROJECT.replace('version = "0.1.0"', 'version = "0.1.0"\ndependencies = ["no-such-thing-1"]')
    with pytest.raises(PipFailed, match=r"pip install failed: .*no-such-thing-1"):
        with_project(base(), project(tmp_path / "src", missing))


def test_wheels_are_chosen_for_the_python_of_the_image() -> None:
    assert Target("arm64", "3.12").flags[1:4] == [
        "--implementation=cp",
        "--python-version=3.12",
        "--platform=manylinux_2_28_aarch64",
    ]
    assert Target("amd64").flags == []


def test_a_package_unavailable_for_an_image_names_its_python(tmp_path: Path) -> None:
    missing = PROJECT.replace('version = "0.1.0"', 'version = "0.1.0"\ndependencies = ["grpcio"]')
    with pytest.raises(PipFailed, match=r"for grpcio .*\(for Python 3.99 on arm64\)"):
        install(project(tmp_path / "src", missing), str(tmp_path / "site"), Target("arm64", "3.99"))
