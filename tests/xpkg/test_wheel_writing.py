"""A function is packaged with the Crossply that runs, and with what is installed here, without an index."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import pytest

from crossply.scaffold.function_package import function_files
from crossply.xpkg.generated_python_project import project_around
from crossply.xpkg.image import Image
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.python_project_image import ROOT, with_project
from crossply.xpkg.runtime_requirements import FUNCTION, PROVIDER, Needs
from crossply.xpkg.wheel_writer import (
    requirement_name,
    wheel_requirements,
    write_installed_wheels,
    write_own_wheel,
)
from tests.support.images import archive, image, member
from tests.support.ports import free_port
from tests.support.registry import wait_for

MAIN = """\
from crossply.sdk import function


@function
def compose(req, rsp):
    rsp.normal("from a file")
"""


@pytest.fixture(autouse=True, scope="module")
def no_index() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", "")
        yield


@pytest.fixture(scope="module")
def site(no_index: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is installed in the image of a function that `crossply new function` makes."""
    project = tmp_path_factory.mktemp("project")
    for name, text in function_files("function-greet").items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    return unpacked(with_project(base(), str(project)), tmp_path_factory.mktemp("root"))


def base() -> Image:
    return image(archive([member("etc/python", b"1")]))


def unpacked(container_image: Image, root: Path) -> Path:
    unpack(container_image, str(root))
    return root / ROOT


@contextlib.contextmanager
def served(code: str, site: Path) -> Iterator[str]:
    """The function in an image, served by a Python that has nothing else installed; its address."""
    port = free_port()
    words = [sys.executable, "-S", "-c", code, "--insecure", "--address", f"127.0.0.1:{port}"]
    process = subprocess.Popen(words, env={"PYTHONPATH": str(site)}, cwd=site)
    try:
        wait_for(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def called(address: str, directory: Path) -> str:
    (directory / "request.json").write_text("{}")
    words = ["function", "call", str(directory / "request.json"), "--target", address]
    done = subprocess.run([sys.executable, "-m", "crossply.cli", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_function_runs_from_its_image_with_nothing_else_installed(site: Path, tmp_path: Path) -> None:
    with served("from function.main import compose; compose()", site) as address:
        assert "Hello, World!" in called(address, tmp_path)


def test_a_function_that_is_one_file_runs_from_its_image_with_nothing_else_installed(tmp_path: Path) -> None:
    for name in ("source", "scratch", "root"):
        (tmp_path / name).mkdir()
    (tmp_path / "source/main.py").write_text(MAIN)
    container_image = with_project(
        base(), project_around(str(tmp_path / "source"), str(tmp_path / "scratch"))
    )
    site = unpacked(container_image, tmp_path / "root")
    with served("from function_of_project import serve; serve()", site) as address:
        assert "from a file" in called(address, tmp_path)


def test_an_image_has_the_modules_for_serving_and_not_those_of_the_control_plane(site: Path) -> None:
    names = {path.name.partition("-")[0] for path in site.glob("*.dist-info")}
    assert names == {"function_greet", "crossply", "grpcio", "orjson", "typing_extensions"}
    assert list(site.glob("crossply-*.dist-info/licenses/LICENSE")), "who gets the image gets the license"


def test_serving_needs_only_dependencies_of_crossply() -> None:
    served = {requirement_name(name) for name in (*FUNCTION.requirements, *PROVIDER.requirements)}
    assert served <= {requirement_name(requirement) for requirement in requires("crossply") or ()}


def test_the_wheel_of_an_installed_crossply_is_that_of_its_checkout(tmp_path: Path) -> None:
    for name in ("site", "installed", "checkout"):
        (tmp_path / name).mkdir()
    whole = Needs(("crossply",), FUNCTION.requirements)
    with zipfile.ZipFile(write_own_wheel(str(tmp_path), whole)) as wheel:
        wheel.extractall(tmp_path / "site")
    code = "import sys; from crossply.xpkg.wheel_writer import write_own_wheel; "
    code += "write_own_wheel(sys.argv[1])"
    words = [sys.executable, "-S", "-c", code, str(tmp_path / "installed")]
    subprocess.run(words, env={"PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path, check=True)
    wheel = Path(write_own_wheel(str(tmp_path / "checkout")))
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(tmp_path / "installed" / wheel.name) as other:
        assert one.namelist() == other.namelist()
    assert wheel.read_bytes() == (tmp_path / "installed" / wheel.name).read_bytes()


def test_extras_of_crossply_can_be_requested(tmp_path: Path) -> None:
    requirements = wheel_requirements(write_own_wheel(str(tmp_path)))
    assert any(
        requirement.startswith("opentelemetry-sdk") and "extra == 'otel'" in requirement
        for requirement in requirements
    )
    assert [requirement for requirement in requirements if "extra" not in requirement] == list(
        FUNCTION.requirements
    )


def test_wheels_are_built_of_unchanged_installations_and_their_dependencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "Acme.Words", "Requires-Dist: acme-letters>=1\nRequires-Dist: x; extra == 'y'\n")
    installed(tmp_path, "acme-letters", "Requires-Dist: not-installed-anywhere\n")
    installed(tmp_path, "acme-changed")
    (tmp_path / "acme_changed.py").write_text("changed = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    write_installed_wheels(["acme.words>=1 ; python_version > '3'", "acme-changed", "crossply"], str(wheels))
    assert {path.name for path in wheels.glob("acme*")} == {
        "acme_words-1.0-py3-none-any.whl",
        "acme_letters-1.0-py3-none-any.whl",
    }
    assert next(wheels.glob("grpcio-*.whl")).name.count("-") == 4
    with zipfile.ZipFile(wheels / "acme_words-1.0-py3-none-any.whl") as wheel:
        assert wheel.read("acme_words.py") == b"name = 'Acme.Words'\n"


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def installed(site: Path, name: str, more: str = "") -> None:
    """A distribution with one module, as an installer leaves it."""
    module = name.lower().replace("-", "_").replace(".", "_")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    files = {
        f"{module}.py": f"name = '{name}'\n",
        f"{info.name}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{more}",
        f"{info.name}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info.name}/INSTALLER": "pip\n",
    }
    for path, text in files.items():
        (site / path).write_text(text)
    rows = [f"{path},sha256={digest(text)},{len(text)}" for path, text in files.items()]
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,", f"../../bin/{module},,"]) + "\n")
