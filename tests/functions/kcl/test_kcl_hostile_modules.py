"""function-kcl: modules that would read other files, take all memory or time, or hold up other modules."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crossply.functions.builtin.kcl import imported_files, registry_modules
from crossply.functions.builtin.kcl.imported_files import FileCollector
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_file_reader import ModuleTree
from crossply.functions.builtin.kcl.module_source_policy import CACHE, REGISTRIES, access_of
from crossply.functions.builtin.kcl.registry_modules import fetch_module
from crossply.functions.builtin.kcl.shared_private_names import with_shared_members
from crossply.functions.builtin.module_registry import module_cache
from crossply.functions.builtin.module_registry.module_cache import ModuleCache
from crossply.functions.builtin.module_registry.module_fetch import KeyedLocks
from crossply.functions.reply_limits import Limits, reset_limits, set_limits
from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.failures import NoDiskSpace, TooLarge
from crossply.xpkg.image import Image, Layer
from tests.support.functions.kcl import answered, composed, fatal_of
from tests.support.functions.kcl_modules import archive, push
from tests.support.images import archive as tar_archive
from tests.support.images import member
from tests.support.programs import needs
from tests.support.registry import docker_registry, pushed

NOTHING = 'items = [{metadata.name = "x"}]\n'
GENEROUS = 60.0
"""CPU seconds for what takes less than one, and took hours."""

pytestmark = pytest.mark.xdist_group("kcl-registry")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
def allowed(registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(REGISTRIES, registry)
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return registry


@needs("docker-registry")
@pytest.mark.parametrize("entry", ["{0}/secret.k", "{0}", "main.k/../../../../../../../../../..{0}/secret.k"])
@pytest.mark.parametrize("place", ["kcl.mod", "kcl.yaml"])
def test_a_module_of_a_registry_reads_no_file_outside_of_it(
    allowed: str, tmp_path: Path, entry: str, place: str
) -> None:
    (tmp_path / "secret.k").write_text('items = [{metadata.name = "stolen"}]\n')
    path = entry.format(tmp_path)
    settings = {
        "kcl.mod": f'[package]\nname = "a"\n[profile]\nentries = ["{path}"]\n',
        "kcl.yaml": f'kcl_cli_configs:\n  files: ["{path}"]\n',
    }
    version = f"1.0.{abs(hash((entry, place)))}"
    address = push(allowed, "kcl/thief", {place: settings[place], "main.k": NOTHING}, version)
    message = fatal_of(answered(f"{address}:{version}"))
    assert "stolen" not in message
    assert "is outside of the module" in message or "there is no KCL file" in message


@pytest.mark.parametrize("version", ["@..", "@.", "@sha256:..", "?tag=../../secret", ":1@.."])
def test_a_version_is_no_path_in_the_cache_or_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    for directory in (tmp_path / "private", tmp_path / "cache" / "private"):
        directory.mkdir(parents=True)
        (directory / "secret.k").write_text('secret = "stolen"\n')
    program = 'import thief.private\nitems = [{metadata.name = "x", secret = private.secret}]\n'
    dependencies = f'thief = {{ oci = "oci://registry.example.com/kcl/thief{version}" }}'
    message = fatal_of(answered(program, spec={"dependencies": dependencies}))
    assert "cannot fetch oci://registry.example.com/kcl/thief" in message
    assert "could not parse reference" in message


@needs("docker-registry")
def test_a_name_that_leads_into_a_private_network_only_later_is_no_way_in(
    allowed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = push(allowed, "kcl/inside", {"main.k": NOTHING}, "1.0.0")
    look_up, lookups = socket.getaddrinfo, []

    def rebound(host: Any, *arguments: Any, **options: Any) -> Any:
        if host != "registry.example.com":
            return look_up(host, *arguments, **options)
        lookups.append(host)
        if len(lookups) == 1:
            raise socket.gaierror("try again")
        return look_up("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    access = access_of({CACHE: str(tmp_path / "cache")})._replace(allows_plain_http=True)
    with pytest.raises(ModuleError, match="no such host"):
        fetch_module(access, f"{address.replace('127.0.0.1', 'registry.example.com')}:1.0.0")
    assert len(lookups) > 1


BOMBS = {
    "a key of many parts": ("a" + ".a" * 100_000 + ' = "1"', "more than 200 periods"),
    "a key of many parts in a table": ("a = { b" + " . b" * 60_000 + " = 1 }", "more than 200 periods"),
    "lists in lists": ("a = " + "[" * 100_000, "nests too deep"),
    "a number that is too long": ("a = " + "9" * 5_000, "spec.dependencies: "),
    "a text that is too long": ("# " + "x" * 400_000, "longer than 256 KiB"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_dependencies_are_read_in_bounded_time(name: str) -> None:
    dependencies, problem = BOMBS[name]
    start = time.process_time()
    message = fatal_of(answered(NOTHING, spec={"dependencies": dependencies}))
    assert problem in message
    assert "cannot read spec.dependencies" in message
    assert time.process_time() - start < GENEROUS


def test_names_of_modules_are_shared_in_time_that_grows_with_the_text() -> None:
    numbers = range(100_000)
    files = {
        "/main/main.k": "import b\n" + "".join(f"import p{n}\nx{n} = b._a{n}\n" for n in numbers),
        "/main/b/b.k": "".join(f"_a{n} = 1\n" for n in numbers),
    }
    start = time.process_time()
    changed = with_shared_members(files, {})
    assert changed["/main/b/b.k"].count("crossply_shared_a") == len(numbers)
    assert time.process_time() - start < GENEROUS


def test_a_module_with_too_many_imports_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported_files, "MAX_FILES", 100)
    (tmp_path / "main.k").write_text("".join(f"import p{n}\n" for n in range(200)))
    collector = FileCollector({"/main": ModuleTree(str(tmp_path), None)}, {})
    with pytest.raises(ModuleError, match="more than 100 imports"):
        collector.add_file(imported_files.Place("/main", "main.k"))


@needs("docker-registry")
def test_all_layers_of_a_module_count_together(allowed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layers = tuple(Layer(in_memory(archive({f"m{n}.k": os.urandom(400).hex()}))) for n in range(4))
    pushed(allowed, Image({}, layers), "kcl/many:1.0.0")
    monkeypatch.setattr(registry_modules, "MAX_ARCHIVE", 1500)
    message = fatal_of(answered(f"oci://{allowed}/kcl/many:1.0.0"))
    assert "bytes together, and may have 1500" in message


def test_all_archives_of_a_module_unpack_to_so_much_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_cache, "_MAX_UNPACKED", 50_000)
    archives = [archive({f"m{n}.k": "x" * 10_000}) for n in range(8)]
    with pytest.raises(TooLarge):
        ModuleCache(str(tmp_path)).put(f"sha256:{'0' * 64}", archives)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_sparse_file_of_a_module_counts_with_its_full_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_cache, "_MAX_UNPACKED", 1 << 20)
    info, data = member("main.k", b"1\n0\n1\n" + bytes(512 - 6) + b"x")
    version = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    info.pax_headers = {**version, "GNU.sparse.name": "main.k", "GNU.sparse.realsize": str(2 << 20)}
    with pytest.raises(TooLarge, match="the files of the module have more than 1048576 bytes"):
        ModuleCache(str(tmp_path)).put(f"sha256:{'0' * 64}", [tar_archive([(info, data)])])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_module_leaves_room_on_the_disk_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nearly_full = SimpleNamespace(f_bavail=200, f_blocks=100_000, f_frsize=1 << 20)
    monkeypatch.setattr(os, "statvfs", lambda path: nearly_full)
    with pytest.raises(NoDiskSpace, match="of 200 MiB of free disk space 256 MiB are reserved"):
        ModuleCache(str(tmp_path)).put(f"sha256:{'0' * 64}", [archive({"main.k": NOTHING})])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@needs("docker-registry")
def test_a_registry_that_does_not_answer_holds_up_no_other_module(
    allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = push(allowed, "kcl/quick", {"main.k": NOTHING}, "1.0.0")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv(REGISTRIES, f"{allowed},{name}")
        waiting = threading.Thread(target=answered, args=(f"oci://{name}/kcl/slow:1.0.0",), daemon=True)
        waiting.start()
        connection, _ = silent.accept()
        with connection:
            assert list(composed(f"{address}:1.0.0")) == ["x"]
            assert waiting.is_alive()
    waiting.join(GENEROUS)
    assert not waiting.is_alive()


def test_modules_take_no_longer_than_the_call_that_needs_them(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        access = access_of({CACHE: str(tmp_path), REGISTRIES: name})
        for seconds, problem in ((0.5, r"did not send it within 0\.\d+ s"), (-1, "no time is left")):
            limits = set_limits(Limits(deadline=time.monotonic() + seconds))
            try:
                with pytest.raises(ModuleError, match=problem):
                    fetch_module(access, f"oci://{name}/kcl/slow:1.0.0")
            finally:
                reset_limits(limits)


def test_a_lock_of_one_key_is_gone_when_nobody_has_it() -> None:
    locks = KeyedLocks()
    order: list[str] = []

    def second() -> None:
        with locks.holding("a"):
            order.append("second")

    with locks.holding("a"), locks.holding("b"):
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert (order, len(locks)) == (["first", "second"], 0)
