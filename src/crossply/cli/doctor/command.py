"""`crossply doctor`: check this machine, the way to the cluster and the control plane, each with its fix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from crossply.cli.doctor.finding import FAIL, OK, WARN, Finding
from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.common_flags import CONTEXT, DEFAULT_OR_JSON, IMPERSONATION
from crossply.cli.local_control_plane.data_directory import data_directory_of, data_flag
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.kube.config import ClusterConfig

_SECONDS = 30.0


def run(invocation: Invocation) -> int:
    """Print the findings; 1 if one of them is a failure."""
    import asyncio

    from crossply.cli.framework.progress import progress

    with progress(invocation, "checking") as line:
        findings = asyncio.run(_check(invocation))
        with line.hidden():
            invocation.stdout.write(
                _as_json(findings) if invocation["output"] == "json" else _as_text(findings, invocation)
            )
    return 1 if any(finding.state == FAIL for finding in findings) else 0


async def _check(invocation: Invocation) -> list[Finding]:
    from crossply.cli.doctor.machine import check_machine
    from crossply.cli.framework.cluster_configuration import configuration

    data = invocation["data"]
    if not invocation.is_set("data"):
        data = data_directory_of(invocation.environ) or data
    findings = list(check_machine(invocation.environ, data))
    try:
        config = configuration(invocation)
    except CrossplyError as problem:
        fix = problem.hint or f"crossply up, then export KUBECONFIG={data}/kubeconfig"
        return [*findings, Finding("kubeconfig", FAIL, str(problem), fix)]
    user = f", namespace {config.namespace}"
    findings.append(Finding("kubeconfig", OK, f"server {config.server}{user}"))
    return findings + [finding async for finding in _cluster(invocation, config)]


async def _cluster(invocation: Invocation, config: ClusterConfig) -> AsyncIterator[Finding]:
    import asyncio
    import http.client
    from datetime import UTC, datetime

    from crossply.cli.doctor.certificates_and_clock import check_connection, greet
    from crossply.kube.client import Client

    try:
        greeting = await greet(config)
    except (OSError, http.client.HTTPException) as problem:
        fix = "crossply up starts a control plane here; else check the server, the network and the kubeconfig"
        yield Finding("reachability", FAIL, f"{config.server} does not answer: {problem}", fix)
        return
    yield Finding("reachability", OK, f"{config.server} answers")
    for finding in check_connection(config, greeting, datetime.now(UTC)):
        yield finding
    try:
        async with asyncio.timeout(_SECONDS), Client(config) as client:
            async for finding in _control_plane(invocation, client):
                yield finding
    except TimeoutError:
        yield Finding(
            "API server", FAIL, f"no answer within {_SECONDS:.0f} s", "look at the load of the server"
        )
    except CrossplyError as problem:
        yield Finding(
            "API server", FAIL, str(problem), problem.hint or "check the credentials in the kubeconfig"
        )


async def _control_plane(invocation: Invocation, client: Client) -> AsyncIterator[Finding]:
    from crossply.cli.doctor.control_plane import (
        check_definitions,
        check_packages,
        check_recorder,
        check_version,
        load_packages,
    )
    from crossply.cli.doctor.registry_logins import check_logins
    from crossply.cli.doctor.rights import check_rights

    for finding in await check_rights(client, invocation["controller"]):
        yield finding
    yield await check_version(client)
    packages = await load_packages(client)
    for finding in check_packages(packages):
        yield finding
    for finding in await check_definitions(client):
        yield finding
    yield await check_recorder(client)
    images = [str((package.object.get("spec") or {}).get("package") or "") for package in packages.nodes]
    for finding in await check_logins(invocation.environ, images):
        yield finding


def _as_text(findings: list[Finding], invocation: Invocation) -> str:
    from crossply.cli.framework.failure_reports import harmless

    style = invocation.style
    marks = {OK: style.good("✓ OK  "), WARN: style.warn("▲ WARN"), FAIL: style.bad("✗ FAIL")}
    if not style.decorated:
        marks = {OK: "OK  ", WARN: "WARN", FAIL: "FAIL"}
    width = max(len(finding.check) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{marks[finding.state]}  {finding.check.ljust(width)}  {harmless(finding.text)}")
        if finding.fix and finding.state != OK:
            lines.append(f"{' ' * 6}fix: {style.accent(harmless(finding.fix))}")
    counts = [sum(finding.state == state for finding in findings) for state in (FAIL, WARN)]
    lines += ["", f"{len(findings)} checks, {counts[0]} failed, {counts[1]} with a warning"]
    return "".join(f"{line}\n" for line in lines)


def _as_json(findings: list[Finding]) -> str:
    import orjson

    return (
        orjson.dumps([finding._asdict() for finding in findings], option=orjson.OPT_INDENT_2).decode() + "\n"
    )


COMMAND = Command(
    "doctor",
    "Check this machine, the cluster and the control plane, and suggest fixes.",
    run,
    flags=(
        CONTEXT,
        Flag("controller", "Check the rights that the controllers need, instead of those of a user."),
        data_flag("The data directory of crossply up. By default the one of the kubeconfig in use."),
        DEFAULT_OR_JSON,
        *IMPERSONATION,
    ),
    description=(
        "Checks versions, Python, the container runtime, control groups, disk space, the control plane on\n"
        "this machine, the kubeconfig, certificates, the clock, rights, packages, definitions, the recorder\n"
        "and logins for registries. Each result is OK, WARN or FAIL, with a fix. Nothing is changed.\n"
        "The exit code is 1 if there is a FAIL."
    ),
    examples=(
        "crossply doctor",
        "crossply doctor -o json",
        "crossply doctor --controller --as system:serviceaccount:crossplane-system:crossply",
    ),
)
