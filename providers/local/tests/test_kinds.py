"""The kinds do what their parameters say, and see what was changed outside."""

from __future__ import annotations

import http.client
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from provider_local import storage_root, web_server
from provider_local.directory import Directory
from provider_local.file import LARGEST, File
from provider_local.relative_path import PathRefused
from provider_local.sqlite_database import SQLiteDatabase
from provider_local.storage_root import DirectoryMissing, RootMissing
from provider_local.web_server import WebServer

from crossply.provider import Context, ExternalError


def named(external_name: str, namespace: str = "team") -> Context:
    metadata: dict[str, Any] = {
        "name": "mine",
        "namespace": namespace,
        "annotations": {"crossplane.io/external-name": external_name},
    }
    return Context({"metadata": metadata})


async def test_a_directory_is_created_changed_and_removed(root: Path) -> None:
    kind, ctx = Directory(), named("site")
    assert kind.observe(ctx, Directory.Parameters()) is None
    await kind.create(ctx, Directory.Parameters(mode="0700"))
    observation = kind.observe(ctx, Directory.Parameters())
    assert observation is not None
    assert observation.actual == {"mode": "0700"}
    assert observation.observed == Directory.Observed(path=str(root / "team" / "site"))
    kind.update(ctx, Directory.Parameters(mode="0750"))
    assert (root / "team" / "site").stat().st_mode & 0o777 == 0o750
    kind.delete(ctx, Directory.Parameters())
    assert kind.observe(ctx, Directory.Parameters()) is None


async def test_a_directory_with_content_is_kept_unless_told(root: Path) -> None:
    kind, ctx = Directory(), named("site")
    await kind.create(ctx, Directory.Parameters())
    for name in "abcd":
        (root / "team" / "site" / name).touch()
    with pytest.raises(ExternalError, match="the directory is not empty: a, b, c …") as problem:
        kind.delete(ctx, Directory.Parameters())
    assert "forceDestroy" in problem.value.hint
    kind.delete(ctx, Directory.Parameters(force_destroy=True))
    assert list((root / "team").iterdir()) == []


async def test_a_file_shows_what_was_changed_outside(root: Path) -> None:
    kind, ctx, params = File(), named("page.html"), File.Parameters(content="grüß Gott", mode="0640")
    await kind.create(ctx, params)
    path = root / "team" / "page.html"
    observation = kind.observe(ctx, params)
    assert observation is not None
    assert observation.actual == {"content": "grüß Gott", "mode": "0640"}
    assert observation.observed.size == len("grüß Gott".encode())
    path.chmod(0o600)
    path.write_bytes(b"\xff")
    observation = kind.observe(ctx, params)
    assert observation is not None
    assert observation.actual == {"content": "\ufffd", "mode": "0600"}
    path.unlink()
    assert kind.observe(ctx, params) is None
    kind.delete(ctx, params)


async def test_a_file_may_be_too_large_for_us(root: Path) -> None:
    kind, ctx = File(), named("big")
    with pytest.raises(ExternalError, match="at most 1048576 are written"):
        await kind.create(ctx, File.Parameters(content="x" * (LARGEST + 1)))
    (root / "team" / "big").write_bytes(b"x" * (LARGEST + 2))
    observation = kind.observe(ctx, File.Parameters())
    assert observation is not None
    assert len(observation.actual["content"]) == LARGEST + 1


async def test_a_missing_directory_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_root, "_PARENT_SECONDS", 0.0)
    with pytest.raises(DirectoryMissing, match='directory "nowhere" does not exist'):
        await File().create(named("page"), File.Parameters(directory="nowhere"))


@pytest.mark.parametrize(("name", "directory"), [("../other/x", None), ("/etc/x", None), ("x", "../other")])
async def test_no_resource_reaches_another_namespace(root: Path, name: str, directory: str | None) -> None:
    (root / "other").mkdir()
    (root / "other" / "x").touch()
    params = File.Parameters(directory=directory)
    with pytest.raises(PathRefused):
        File().observe(named(name), params)
    with pytest.raises(PathRefused):
        await File().create(named(name), params)
    with pytest.raises(PathRefused):
        File().delete(named(name), params)


def test_without_a_root_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (storage_root.ROOT_VARIABLE, storage_root.DATA_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(RootMissing):
        File().observe(named("page"), File.Parameters())


async def test_a_database_has_its_migrations_and_says_where_it_is(root: Path) -> None:
    kind, ctx = SQLiteDatabase(), named("app.db")
    params = SQLiteDatabase.Parameters(migrations=["CREATE TABLE people (name TEXT)"])
    path = root / "team" / "app.db"
    assert await kind.create(ctx, params) == {"path": str(path), "url": f"sqlite:///{path}"}
    observation = kind.observe(ctx, params)
    assert observation is not None
    assert observation.actual == {"migrations": params.migrations}
    kind.delete(ctx, params)
    assert list((root / "team").iterdir()) == []


async def test_a_database_in_a_linked_directory_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "team").mkdir()
    (root / "team" / "link").symlink_to(tmp_path / "outside")
    params = SQLiteDatabase.Parameters(directory="link")
    with pytest.raises(Exception, match="symbolic link"):
        await SQLiteDatabase().create(named("app.db"), params)
    with pytest.raises(Exception, match="symbolic link"):
        SQLiteDatabase().observe(named("app.db"), params)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.fixture
async def server(root: Path) -> AsyncIterator[WebServer]:
    (root / "team" / "site").mkdir(parents=True)
    (root / "team" / "site" / "index.html").write_text("hello")
    yield WebServer()
    await web_server.supervisor().close()


async def test_a_web_server_is_ready_when_it_answers_and_is_gone_when_deleted(server: WebServer) -> None:
    ctx, params = named("web"), WebServer.Parameters(directory="site")
    assert await server.observe(ctx, params) is None
    await server.create(ctx, params)
    observation = await server.observe(ctx, params)
    assert observation is not None
    assert observation.ready is True
    assert observation.observed.process_id
    assert observation.actual == {"directory": "site"}
    assert observation.connection == {"url": observation.observed.url}
    connection = http.client.HTTPConnection("127.0.0.1", observation.observed.port, timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"hello"
    connection.close()
    await server.delete(ctx, params)
    assert await server.observe(ctx, params) is None
