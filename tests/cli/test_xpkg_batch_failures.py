"""Failures of `xpkg batch` are reported, retried where that may help, and do not stop the other packages."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from crossply.cli.xpkg import batch as xpkg_batch
from tests.support.cli.command import Run, last
from tests.support.cli.provider_family import base, kinds, pulled, real, words
from tests.support.registry import ScriptedRegistry

pytestmark = pytest.mark.xdist_group("registry")


@real
def test_one_failure_does_not_stop_the_others_and_all_are_reported(
    run: Run, family: Path, registry: str
) -> None:
    code, _, err = run(
        *words(registry, "some"), "--smaller-providers=mars,moon,venus", "--crd-group-override=mars=*"
    )
    assert code == 1
    assert "try: programs are at <provider-bin-root>/<OS>_<arch>/<service>" in err
    assert "warning: the package of venus has no CRDs" in err
    assert "processing of at least one smaller provider has failed: \n" in err
    for service in ("mars", "venus"):
        path = f"{family}/bin/linux_amd64/{service}"
        prefix = f'\nfailed to process smaller provider package for "{service}": failed to read "{service}" '
        end = f"from path: {path}: open {path}: no such file or directory"
        assert f"{prefix}provider binary for linux_amd64 platform {end}" in err
    assert kinds(pulled(f"{registry}/some/provider-sky-moon:v1.0.0", family / "blobs")) == ["Sea", "Crater"]


MISTAKES = [
    ("--platform=linux", 1, "failed to parse platform name. Expected syntax is <OS>_<arch>: linux"),
    ("--concurrency=-1", 80, '--concurrency: expected a valid 64 bit uint but got "-1"'),
    ("--provider-bin-root=nowhere", 80, "no such file or directory"),
    ("--family-package-url-format=registry.test/x:v1", 1, 'format "registry.test/x:v1" does not contain %s'),
    (
        "--family-package-url-format=%s",
        1,
        'failed to push smaller provider package: moon: failed to parse package tag "provider-sky-moon": ',
    ),
    ("--package-metadata-template=no.tmpl", 1, "smaller provider metadata template is not valid: open "),
    ("--crd-root=nowhere", 1, "failed to initialize the CRD parser backend: lstat "),
    ("--service-metadata=nowhere", 1, "failed to load service metadata file; check the file path and YAML"),
    ("--service-metadata=list.yaml", 1, "it is not a map of services"),
    ("--service-metadata=text.yaml", 1, 'service metadata (service "moon"): it is not a map of variables'),
    (
        "--service-metadata=nested.yaml",
        1,
        'metadata (service "moon"): variable "deep": a variable is a scalar or a list of scalars',
    ),
    (
        "--package-metadata-template=unknown.tmpl",
        1,
        'template is not valid: template: unknown.tmpl:1: function "upper" not defined',
    ),
    (
        "--package-metadata-template=odd.tmpl",
        1,
        "using: map[Name:provider-sky-moon Service:moon colour:grey]: template: odd.tmpl:1:",
    ),
    (
        "--package-metadata-template=empty.tmpl",
        1,
        "smaller provider package: moon: not exactly one package meta",
    ),
]


@real
@pytest.mark.parametrize(("flag", "code", "message"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_usage_errors_are_reported(
    run: Run, family: Path, registry: str, flag: str, code: int, message: str
) -> None:
    (family / "list.yaml").write_text("[moon]")
    (family / "text.yaml").write_text("moon: full")
    (family / "nested.yaml").write_text("moon: {deep: [{a: b}]}")
    (family / "unknown.tmpl").write_text("{{ .Name | upper }}")
    (family / "odd.tmpl").write_text('{{ dict "a" }}')
    (family / "empty.tmpl").write_text("")
    exit_code, out, err = run(*words(registry, "mistakes"), "--smaller-providers=moon", flag)
    assert (exit_code, out) == (code, "")
    assert message in last(err)


@real
def test_a_base_image_that_is_missing_or_for_another_platform_is_reported(
    run: Run, family: Path, registry: str
) -> None:
    code, _, err = run(*words(registry), f"--family-base-image={registry}/team/base:v7")
    assert code == 1
    assert f"failed to get the base image {registry}/team/base:v7-amd64: " in last(err)
    assert "check the repository and the tag" in err
    code, _, err = run(
        *words(registry), f"--family-base-image={registry}/team/base:wrong", "--platform=linux_arm64"
    )
    assert code == 1
    assert (
        last(err)
        == f"the base image {registry}/team/base:wrong-arm64 is for linux_amd64, not for linux_arm64"
    )


def test_required_flags_are_named(run: Run) -> None:
    code, _, err = run("batch", "--provider-name=x")
    assert code == 80
    assert "missing flags: --family-base-image=STRING, --family-package-url-format=STRING" in err


class Moody(ScriptedRegistry):
    """A registry that has a base image, and takes manifests only after so many refusals."""

    def __init__(self, refusals: int, status: int) -> None:
        super().__init__()
        self.refusals, self.status = refusals, status
        self.attempts = 0

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return web.Response(status=202, headers={"Location": "/upload"})
        if request.method != "PUT":
            return await super()._handle(request)
        await request.read()
        if "/manifests/" not in request.path:
            return web.Response(status=201)
        self.attempts += 1
        return web.Response(status=201 if self.attempts > self.refusals else self.status)


RETRIES = [
    (2, 500, "--push-retry=3", 0, 3, "it is tried until it succeeds"),
    (9, 500, "--push-retry=1", 1, 2, "it is tried so often"),
    (9, 403, "--push-retry=3", 1, 1, "who may not is not heard again"),
]


@pytest.mark.parametrize(
    ("refusals", "status", "flag", "code", "attempts", "why"), RETRIES, ids=[row[5] for row in RETRIES]
)
def test_pushing_is_retried(
    run: Run,
    family: Path,
    monkeypatch: pytest.MonkeyPatch,
    refusals: int,
    status: int,
    flag: str,
    code: int,
    attempts: int,
    why: str,
) -> None:
    monkeypatch.setattr(xpkg_batch, "FIRST_PAUSE", 0.01)
    moody = Moody(refusals, status)
    moody.serve_image(base("amd64"), "team/base", "v1-amd64")

    async def main() -> tuple[int, str, str]:
        async with moody.running() as there:
            line = [*words(there.address), "--smaller-providers=moon", "--platform=linux_amd64", flag]
            return await asyncio.to_thread(run, *line)

    exit_code, _, err = asyncio.run(main())
    assert (exit_code, moody.attempts) == (code, attempts), why
    if code:
        expected = (
            "failed to push smaller provider package: moon: failed to push package file moon-linux_amd64: "
        )
        assert expected in last(err)
