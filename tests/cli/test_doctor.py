"""`crossply doctor`: every finding with its fix, against a real API server."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from crossply.certificates import Span, new_authority, subject_of
from crossply.cli.doctor.certificates_and_clock import Greeting, check_connection
from crossply.cli.doctor.finding import FAIL, OK, WARN, Finding
from crossply.cli.doctor.machine import check_compiled_packages, check_machine, check_user_namespaces
from crossply.cli.doctor.rights import commands_to_see_runs
from crossply.kube.config import ClusterConfig
from tests.support.cli.command import Run

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Doctor = Callable[..., tuple[int, dict[str, dict[str, str]]]]


@pytest.fixture
def doctor(crossply: Run) -> Doctor:
    """Run `crossply doctor`: its exit code, and its findings by what they are about."""

    def call(*words: str) -> tuple[int, dict[str, dict[str, str]]]:
        code, out, _ = crossply("doctor", "-o", "json", *words)
        return code, {finding["check"]: finding for finding in json.loads(out)}

    return call


def test_without_a_kubeconfig_it_gives_a_hint(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    code, findings = doctor()
    assert (code, findings["kubeconfig"]["state"]) == (1, "FAIL")
    assert "KUBECONFIG" in findings["kubeconfig"]["fix"]
    assert findings["python"]["state"] == "OK"


def test_a_compiled_package_that_cannot_be_loaded_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"unloadable{EXTENSION_SUFFIXES[0]}").write_bytes(b"not a shared object")
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = check_compiled_packages(("json", "unloadable"))
    assert finding.state == FAIL
    assert finding.text.startswith("unloadable cannot be imported: ")
    assert "libstdc++" in finding.fix
    assert check_compiled_packages().state == OK


def test_a_server_that_does_not_answer_is_a_failure(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cluster = {"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    config = {"clusters": [cluster], "contexts": [context], "users": [], "current-context": "a"}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config | {"users": [{"name": "a", "user": {}}]}))
    monkeypatch.setenv("KUBECONFIG", str(path))
    code, findings = doctor()
    assert (code, findings["reachability"]["state"]) == (1, "FAIL")
    assert "Connection refused" in findings["reachability"]["text"]


@pytest.fixture
def cluster(world, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)
    return doctor


def test_a_package_that_is_not_healthy_is_named_with_the_command_that_explains_it(cluster: Doctor) -> None:
    code, findings = cluster()
    assert code == 1
    assert findings["provider/sky"] == {
        "check": "provider/sky",
        "state": "FAIL",
        "text": "UnhealthyPackageRevision: no such image",
        "fix": "crossply explain provider/sky",
    }
    assert findings["packages"]["text"] == "2 of 3 installed and healthy"
    for check in ("reachability", "certificate of the server", "clock", "right to see", "registry logins"):
        assert findings[check]["state"] == "OK", findings[check]
    assert "reg.test" in findings["registry logins"]["text"]


def test_missing_rights_come_with_the_command_that_grants_them(cluster: Doctor) -> None:
    _, findings = cluster("--as", "jane")
    see = findings["right to see"]
    assert see["state"] == "WARN"
    assert see["text"].startswith(
        "jane may not: list compositeresourcedefinitions.apiextensions.crossplane.io"
    )
    assert see["fix"] == (
        "kubectl create clusterrolebinding right-to-see-jane --clusterrole=crossplane-view --user=jane"
    )
    assert findings["versions"]["state"] == "WARN"
    assert findings["versions"]["text"].startswith("cannot be checked: deployments.apps is forbidden")
    assert "API server" not in findings
    assert [findings[check]["state"] for check in ("packages", "definitions")] == ["WARN", "WARN"]
    account = "system:serviceaccount:crossplane-system:crossply"
    _, findings = cluster("--controller", "--as", account)
    assert "--serviceaccount=crossplane-system:crossply" in findings["rights of the controllers"]["fix"]


def test_who_may_not_see_runs_gets_the_commands_that_let_them() -> None:
    role, binding = commands_to_see_runs("system:serviceaccount:default:viewer").split(" && ")
    assert role.endswith("--verb=get --resource=configmaps --resource-name=crossply-runs")
    assert binding == (
        "kubectl create rolebinding run-viewer-viewer -n crossplane-system --role=run-viewer "
        "--serviceaccount=default:viewer"
    )


def test_text_marks_failed_checks_and_counts_them(
    world, crossply: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)
    code, out, _ = crossply("doctor")
    assert code == 1
    lines = out.splitlines()
    failed = lines.index(next(line for line in lines if line.startswith("FAIL  provider/sky")))
    assert lines[failed + 1] == "      fix: crossply explain provider/sky"
    assert lines[-1].startswith(
        f"{sum(line[:4] in ('OK  ', 'WARN', 'FAIL') for line in lines)} checks, 1 failed"
    )


@pytest.mark.parametrize(
    ("left", "state"), [(timedelta(days=100), OK), (timedelta(days=3), WARN), (timedelta(days=-1), FAIL)]
)
def test_certificates_are_reported_before_they_expire(left: timedelta, state: str) -> None:
    authority = new_authority(subject_of("test"), Span(NOW - timedelta(days=30), NOW + left))
    der = ssl.PEM_cert_to_DER_cert(authority.certificate_pem.decode())
    [finding] = check_connection(ClusterConfig("https://a"), Greeting("", der), NOW)
    assert (finding.check, finding.state) == ("certificate of the server", state)


@pytest.mark.parametrize(("seconds", "state"), [(1, OK), (-30, WARN), (600, FAIL)])
def test_a_skewed_clock_is_reported(seconds: int, state: str) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    [finding] = check_connection(ClusterConfig("http://a"), Greeting(date, b""), NOW)
    assert (finding.check, finding.state) == ("clock", state)


def test_the_container_runtime_and_the_network_are_checked(tmp_path: Path) -> None:
    findings: dict[str, Finding] = {
        finding.check: finding
        for finding in check_machine({"PATH": "", "HOME": str(tmp_path)}, str(tmp_path / "d"))
    }
    assert findings["control plane here"].text == f"none was started in {tmp_path / 'd'}"
    assert findings["disk of the data directory"].text.endswith(f"free at {tmp_path}")


def test_user_namespaces_that_the_kernel_forbids_to_users_are_reported(tmp_path: Path) -> None:
    setting = tmp_path / "kernel" / "unprivileged_userns_clone"
    setting.parent.mkdir()
    setting.write_text("0\n")
    finding = check_user_namespaces(False, str(tmp_path))
    assert (finding.state, finding.fix) == (WARN, "sudo sysctl kernel.unprivileged_userns_clone=1")
    assert check_user_namespaces(True, str(tmp_path)).state == OK
    setting.write_text("1\n")
    assert check_user_namespaces(False, str(tmp_path)).state == OK
