"""The wheel works where nothing else is installed, and has everything in it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crossply.version import __version__
from tests.support.docs.markdown_session import NEWCOMER_PAGES, Reader, Write, session
from tests.support.paths import ROOT
from tests.support.release.wheelhouse import FreshEnvironment, add_dependencies, build_wheels

pytestmark = pytest.mark.xdist_group("wheel")

WHEEL = f"crossply-{__version__}-py3-none-any.whl"
SDK = f"crossply_sdk-{__version__}-py3-none-any.whl"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-composition.md"
FILES = "definition.yaml functions.yaml composition.yaml app.yaml"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
WAIT = "until crossply trace app shop -n team-a | grep -q Deployment; do sleep 0.2; done;"
FETCH = (
    "import http.cookiejar, sys, urllib.request as r; "
    "o = r.build_opener(r.HTTPCookieProcessor(http.cookiejar.CookieJar())); "
    "print(o.open(sys.argv[1]).read().decode())"
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make wheels` writes; it builds everything twice and refuses what is not the same."""
    directory = tmp_path_factory.mktemp("wheels")
    build_wheels(directory)
    return directory


@pytest.fixture(scope="module")
def dependencies(wheels: Path) -> None:
    """What Crossply depends on, beside its own wheels."""
    add_dependencies(wheels)


@pytest.fixture(scope="module")
def fresh(wheels: Path, dependencies: None, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    """An environment with Crossply from its wheel, as pipx, uv and pip make one."""
    directory = tmp_path_factory.mktemp("fresh")
    return FreshEnvironment(directory / "venv", wheels, str(wheels / WHEEL))


def test_the_checksums_are_those_of_the_files(wheels: Path) -> None:
    lines = (wheels / "SHA256SUMS").read_text().splitlines()
    listed = dict(reversed(line.split()) for line in lines)
    assert set(listed) == {WHEEL, SDK, f"crossply-{__version__}.tar.gz"}
    for name, checksum in listed.items():
        assert hashlib.sha256((wheels / name).read_bytes()).hexdigest() == checksum


def test_every_file_of_the_package_is_in_the_wheel(wheels: Path) -> None:
    source = ROOT / "src"
    files = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheels / WHEEL) as wheel:
        assert files == {name for name in wheel.namelist() if ".dist-info/" not in name}
    endings = {Path(file).suffix for file in files}
    assert {".html", ".css", ".js", ".proto", ".typed"} <= endings, "the dashboard and the wire are there"


def test_everything_that_crossply_imports_is_installed_with_it(fresh: FreshEnvironment) -> None:
    code = (
        "import importlib, pkgutil, sys, crossply\n"
        "optional = {'opentelemetry', 'psycopg', 'kcl_lib', 'pytest', '_pytest'}\n"
        "for module in pkgutil.walk_packages(crossply.__path__, 'crossply.'):\n"
        "    if '__main__' in module.name or '.shim.' in module.name: continue\n"
        "    try: importlib.import_module(module.name)\n"
        "    except ModuleNotFoundError as problem:\n"
        "        if problem.name.split('.')[0] not in optional: print(module.name, problem)\n"
    )
    command = [str(fresh.bin / "python"), "-P", "-c", code]
    done = subprocess.run(command, env=fresh.environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_pages_for_newcomers_work_where_only_python_is(
    wheels: Path, dependencies: None, tmp_path: Path
) -> None:
    """From `pip install crossply` to the end of the tutorial; `make test-image` does it in a container."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    reader = Reader(tmp_path)
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    reader.environ = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8", **index}
    assert "crossply" not in reader.run("command -v crossply")
    try:
        for page in NEWCOMER_PAGES:
            reader.run_page(page, at_least=3)
    finally:
        reader.run("crossply down")
    assert reader.run("command -v crossply").strip() == str(tmp_path / "crossply-venv" / "bin" / "crossply")


def test_the_installed_crossply_runs_a_control_plane_and_its_dashboard(
    fresh: FreshEnvironment, tmp_path: Path
) -> None:
    reader = Reader(tmp_path)
    reader.environ = {**fresh.environ, "KUBECONFIG": str(tmp_path / "state" / "kubeconfig")}
    for step in session(TUTORIAL.read_text()):
        if isinstance(step, Write):
            (tmp_path / step.name).write_text(step.content)
    (tmp_path / "namespace.yaml").write_text(NAMESPACE)
    try:
        started = reader.run(f"crossply up --detach --data state namespace.yaml {FILES}")
        assert "applied 6 objects: 6 created\n" in started
        assert f"Server Version: v{__version__}" in reader.run("crossply version")
        assert "Deployment/shop" in reader.run(f"{WAIT} crossply trace app shop -n team-a")
        [address] = re.findall(r"^see: +(\S+)$", started, re.M)
        assert "<title>" in reader.run(f"python -c '{FETCH}' '{address}'")
    finally:
        reader.run("crossply down --data state")
