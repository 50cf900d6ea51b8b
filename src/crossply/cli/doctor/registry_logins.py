"""Checks of the logins for registries: those in Docker's configuration, for the packages in use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import orjson

from crossply.cli.doctor.finding import FAIL, OK, Finding
from crossply.errors import CrossplyError


async def check_logins(environ: Mapping[str, str], images: Iterable[str]) -> list[Finding]:
    """Whether the login for each registry of these images can be read; having none is fine."""
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.keychain import default_keychain

    registries = set(_configured(environ))
    for image in images:
        try:
            registries.add(parse(image).registry)
        except CrossplyError:
            continue
    try:
        keychain = default_keychain(environ)
    except CrossplyError as problem:
        return [Finding("registry logins", FAIL, str(problem), problem.hint)]
    findings: list[Finding] = []
    with_login: list[str] = []
    without: list[str] = []
    for registry in sorted(registries):
        try:
            login = await keychain.login(registry)
        except CrossplyError as problem:
            findings.append(Finding(f"login for {registry}", FAIL, str(problem), f"docker login {registry}"))
            continue
        (without if login is None else with_login).append(registry)
    text = "; ".join(
        part
        for part in (
            f"for {', '.join(with_login)}" if with_login else "",
            f"anonymous at {', '.join(without)}" if without else "",
        )
        if part
    )
    return [*findings, Finding("registry logins", OK, text or "none, and no packages are installed")]


def _configured(environ: Mapping[str, str]) -> list[str]:
    home = environ.get("DOCKER_CONFIG") or os.path.join(environ.get("HOME", ""), ".docker")
    try:
        with open(os.path.join(home, "config.json"), "rb") as file:
            content = orjson.loads(file.read(1 << 20))
    except (OSError, orjson.JSONDecodeError):
        return []
    auths = content.get("auths") if isinstance(content, dict) else None
    names = [name.split("://")[-1].partition("/")[0] for name in auths or ()]
    return ["index.docker.io" if name.endswith("docker.io") else name for name in names]
