"""function-kcl: modules from registries, fetched once and cached by digest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.functions.builtin.kcl.module_file_reader import ModuleTree
from crossply.functions.builtin.kcl.module_source_policy import CACHE, REGISTRIES
from tests.support.functions.kcl import answered, composed, fatal_of
from tests.support.functions.kcl_modules import push
from tests.support.programs import needs
from tests.support.registry import docker_registry

pytestmark = [needs("docker-registry"), pytest.mark.xdist_group("kcl-registry")]

LIBRARY = {"kcl.mod": '[package]\nname = "lib"\nversion = "{0}"\n', "api/v1/x.k": 'version = "{0}"\n'}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        push(address, "kcl/lib", LIBRARY, "0.1.0")
        push(address, "kcl/lib", LIBRARY, "0.2.0")
        push(address, "kcl/lib", LIBRARY, "0.10.0-rc.1")
        yield address


@pytest.fixture(autouse=True)
def allowed(registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REGISTRIES, f"other.example.org, {registry}")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))


IMPORTING = 'import lib.api.v1\nitems = [{metadata.name = "l", v = v1.version}]'


@pytest.mark.parametrize(
    ("dependency", "version"),
    [
        ('{ oci = "oci://REGISTRY/kcl/lib", tag = "0.1.0" }', "0.1.0"),
        ('{ oci = "oci://REGISTRY/kcl/lib?tag=0.2.0" }', "0.2.0"),
        ('{ oci = "oci://REGISTRY/kcl/lib", version = "0.10.0-rc.1" }', "0.10.0-rc.1"),
        ('{ oci = "oci://REGISTRY/kcl/lib" }', "0.2.0"),
        ('{ repo = "kcl/lib", reg = "REGISTRY", tag = "0.1.0", package = "lib" }', "0.1.0"),
    ],
)
def test_a_dependency_comes_from_a_registry(registry: str, dependency: str, version: str) -> None:
    dependencies = f"lib = {dependency.replace('REGISTRY', registry)}"
    assert composed(IMPORTING, spec={"dependencies": dependencies})["l"].object["v"] == version


def test_a_module_of_a_registry_is_run_with_its_own_dependencies(registry: str) -> None:
    files = {
        "kcl.mod": f'[package]\nname = "main"\n[dependencies]\nlib = {{ oci = "oci://{registry}/kcl/lib", '
        'tag = "0.1.0" }\n',
        "main.k": IMPORTING,
    }
    address = push(registry, "kcl/main", files, "1.0.0")
    for source in (address, f"{address}:1.0.0", f"{address}?tag=1.0.0"):
        assert composed(source)["l"].object["v"] == "0.1.0"
    wanting = f'lib = {{ oci = "oci://{registry}/kcl/lib", tag = "0.2.0" }}'
    assert composed(address, spec={"dependencies": wanting})["l"].object["v"] == "0.2.0", (
        "the highest version"
    )


def test_a_fetched_module_needs_no_registry_and_a_digest_pins_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    with docker_registry(tmp_path / "own") as own:
        monkeypatch.setenv(REGISTRIES, own)
        address = push(own, "kcl/app", {"main.k": 'items = [{metadata.name = "one"}]\n'}, "1.0.0")
        assert list(composed(f"{address}?tag=1.0.0")) == ["one"]
        digest = next(path.name for path in (tmp_path / "cache").glob("sha256-*")).replace("-", ":")
        push(own, "kcl/app", {"main.k": 'items = [{metadata.name = "two"}]\n'}, "1.0.0")
        assert list(composed(f"{address}?tag=1.0.0")) == ["one"], "versions do not change"
        assert list(composed(f"{address}@{digest}")) == ["one"]
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    assert list(composed(f"{address}:1.0.0")) == ["one"]
    shutil.rmtree(tmp_path / "cache")
    assert f"cannot fetch {address}:2.0.0" in fatal_of(answered(f"{address}:2.0.0"))


def test_a_checksum_of_the_lock_file_is_checked(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in LIBRARY.items():
        path = tmp_path / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{0}", "0.1.0"))
    checksum = ModuleTree(str(tmp_path / "lib"), None).checksum()
    module = tmp_path / "app"
    module.mkdir()
    (module / "kcl.mod").write_text(
        f'[dependencies]\nlib = {{ oci = "oci://{registry}/kcl/lib", tag = "0.1.0" }}\n'
    )
    (module / "main.k").write_text(IMPORTING)
    monkeypatch.setenv("CROSSPLY_TEMPLATES", str(module))
    (module / "kcl.mod.lock").write_text(f'[dependencies.lib]\nname = "lib"\nsum = "{checksum}"\n')
    assert composed(str(module))["l"].object["v"] == "0.1.0"
    (module / "kcl.mod.lock").write_text('[dependencies.lib]\nname = "lib"\nsum = "other"\n')
    assert f"dependency lib has the checksum {checksum}, but kcl.mod.lock says other" in fatal_of(
        answered(str(module))
    )


@pytest.mark.parametrize("name", ["../escape.k", "/absolute.k", "a/../../escape.k"])
def test_an_archive_that_leads_out_is_refused(registry: str, tmp_path: Path, name: str) -> None:
    address = push(registry, "kcl/evil", {name: "a = 1\n"}, f"1.0.{len(name)}")
    assert "cannot fetch" in fatal_of(answered(f"{address}:1.0.{len(name)}"))
    assert not (tmp_path / "escape.k").exists()


def test_a_path_dependency_of_a_fetched_module_stays_inside(registry: str) -> None:
    files = {"kcl.mod": '[dependencies]\na = { path = "../../etc" }\n', "main.k": "items = []\n"}
    address = push(registry, "kcl/leaning", files, "1.0.0")
    assert "is outside of the module" in fatal_of(answered(address))
    files = {
        "kcl.mod": '[dependencies]\na = { path = "./inner" }\n',
        "main.k": 'import a\nitems = [{metadata.name = "i", v = a.x}]\n',
        "inner/a.k": "x = 1\n",
    }
    assert composed(push(registry, "kcl/nested", files, "1.0.0"))["i"].object["v"] == 1
