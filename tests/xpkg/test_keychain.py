"""Logins come from where docker and podman keep them, and are never printed."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from crossply.xpkg.keychain import KeychainError, Login, default_keychain, from_secret, read_file

AUTH = base64.b64encode(b"me:sec:ret").decode()


def login(path: Path, registry: str, **environ: str) -> Login | None:
    return asyncio.run(read_file(str(path), environ).login(registry))


def config(tmp_path: Path, **content: Any) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("key", "registry"),
    [
        ("registry.test", "registry.test"),
        ("registry.test:5000", "registry.test:5000"),
        ("https://registry.test", "registry.test"),
        ("https://registry.test/v1/", "registry.test"),
        ("https://index.docker.io/v1/", "index.docker.io"),
        ("docker.io", "index.docker.io"),
    ],
)
def test_logins_match_however_the_registry_is_written(tmp_path: Path, key: str, registry: str) -> None:
    credentials = login(config(tmp_path, auths={key: {"auth": AUTH}}), registry)
    assert credentials == Login("me", "sec:ret")


def test_another_registry_gets_no_login(tmp_path: Path) -> None:
    path = config(tmp_path, auths={"registry.test": {"auth": AUTH}})
    assert login(path, "registry.test.evil.example") is None
    assert login(path, "other.test") is None


@pytest.mark.parametrize(
    ("key", "registry", "shown"),
    [
        ("registry.test", "registry.test:5000", False),
        ("registry.test:5000", "registry.test", False),
        ("registry.test:5000", "registry.test:5001", False),
        ("https://registry.test/v1/", "registry.test:5000", False),
        ("registry.test", "registry.test:443", True),
        ("registry.test:443", "registry.test", True),
        ("[::1]:5000", "[::1]:5001", False),
    ],
)
def test_a_login_is_only_for_its_port(tmp_path: Path, key: str, registry: str, shown: bool) -> None:
    credentials = login(config(tmp_path, auths={key: {"auth": AUTH}}), registry)
    assert (credentials is not None) is shown


def test_a_helper_is_only_for_the_port_it_was_named_for(tmp_path: Path) -> None:
    path = config(tmp_path, credHelpers={"registry.test": "no-such-helper"})
    assert login(path, "registry.test:5000") is None


def test_tokens_are_stored_apart_from_passwords(tmp_path: Path) -> None:
    path = config(tmp_path, auths={"a.test": {"identitytoken": "i"}, "b.test": {"registrytoken": "r"}})
    assert login(path, "a.test") == Login(identity_token="i")
    assert login(path, "b.test") == Login(registry_token="r")


def test_a_login_does_not_show_itself() -> None:
    assert "secret" not in repr(Login("me", "secret"))
    assert "secret" not in repr(from_secret(b'{"auths": {"a.test": {"password": "secret"}}}', "s"))


def helper(tmp_path: Path, script: str) -> str:
    program = tmp_path / "docker-credential-mine"
    program.write_text(f"#!/bin/sh\nread server\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{tmp_path}:/usr/bin:/bin"


def test_a_helper_is_called_for_its_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PATH", helper(tmp_path, 'echo "{\\"Username\\": \\"u\\", \\"Secret\\": \\"$server\\"}"')
    )
    path = config(tmp_path, credHelpers={"registry.test": "mine"})
    assert login(path, "registry.test") == Login("u", "registry.test")


def test_a_helper_may_know_nothing_or_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = config(tmp_path, credsStore="mine")
    monkeypatch.setenv("PATH", helper(tmp_path, "echo credentials not found in native keychain; exit 1"))
    assert login(path, "registry.test") is None
    monkeypatch.setenv("PATH", helper(tmp_path, 'echo \'{"Username": "<token>", "Secret": "t"}\''))
    assert login(path, "registry.test") == Login(identity_token="t")


def test_a_failing_helper_is_reported_without_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", helper(tmp_path, "echo hunter2; exit 3"))
    with pytest.raises(KeychainError, match="docker-credential-mine failed") as caught:
        login(config(tmp_path, credsStore="mine"), "registry.test")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["../../bin/sh", "a b", ""])
def test_a_helper_is_a_name_not_a_path(tmp_path: Path, name: str) -> None:
    path = config(tmp_path, credHelpers={"registry.test": name or "/"})
    with pytest.raises(KeychainError, match="no name of a credential helper"):
        login(path, "registry.test")


async def test_a_pull_secret_cannot_have_a_program_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", helper(tmp_path, "touch ran"))
    secret = from_secret(json.dumps({"credsStore": "mine"}).encode(), "s")
    assert await secret.login("registry.test") is None


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff"])
def test_invalid_files_are_reported(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.json").write_bytes(data)
    with pytest.raises(KeychainError):
        login(tmp_path / "config.json", "registry.test")


async def test_docker_is_read_before_podman(tmp_path: Path) -> None:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "config.json").write_text(
        json.dumps({"auths": {"a.test": {"username": "docker"}}})
    )
    podman = tmp_path / "auth.json"
    podman.write_text(json.dumps({"auths": {"a.test": {"username": "p"}, "b.test": {"username": "podman"}}}))
    keychain = default_keychain(
        {"DOCKER_CONFIG": str(tmp_path / "docker"), "REGISTRY_AUTH_FILE": str(podman), "HOME": str(tmp_path)}
    )
    logins = [await keychain.login(name) for name in ("a.test", "b.test", "c.test")]
    assert logins == [Login("docker"), Login("podman"), None]
