"""The chart and the manifests: up to date, and accepted by a real API server whatever is switched on."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess

import pytest

from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.values import yaml
from crossply.version import __version__
from tests.support.chart_installation import RUNS, controller_flags, manifests

ROOT = pathlib.Path(__file__).parents[2]
CHART = ROOT / "deploy" / "chart"
EVERYTHING = """
args: [--debug]
podAnnotations: {a: b}
priorityClassName: system-cluster-critical
metrics:
  serviceMonitor: {enabled: true, labels: {release: prometheus}}
  alerts: {enabled: true}
  board: {enabled: true}
runs: {enabled: true, viewers: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: developers}]}
dashboard: {enabled: true, allowWrites: true}
rbac:
  connectionSecrets: true
  providers: true
  composed: [{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, patch, delete]}]
  serviceAccounts: [{namespace: default, name: databases}]
"""
NOTHING = """
replicas: 1
webhooks: {enabled: false}
metrics: {service: false}
podDisruptionBudget: {enabled: false}
image: {digest: "sha256:abc"}
"""


def _tool():
    spec = importlib.util.spec_from_file_location("manifests", ROOT / "tools" / "manifests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(scope="module")
def helm():
    program = TOOL.present_helm()
    if program is None:
        pytest.skip("NOTHING OF THE CHART IS RENDERED: there is no Helm. `make manifests` builds it, with Go")
    return program


def rendered(helm, values):
    command = [*TOOL.template(helm), "--values", "-"]
    done = subprocess.run(command, input=values, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [document.value for document in yaml.read_stream(done.stdout) if document.value]


def path(kind, obj):
    metadata = obj["metadata"]
    place = f"/namespaces/{metadata['namespace']}" if kind.namespaced else ""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}{place}/{kind.plural}/{metadata['name']}"


def named(objects, kind, name="crossply"):
    [match] = [obj for obj in objects if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
    return match


def test_the_roles_in_the_chart_are_those_of_the_code():
    assert pathlib.Path(TOOL.STANDING_ROLES).read_text() == TOOL.chart_roles(), "run `make manifests`"


def test_the_chart_is_of_the_version_of_the_product():
    chart = yaml.load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_the_manifests_are_the_rendered_chart(helm):
    assert pathlib.Path(TOOL.MANIFESTS).read_text() == TOOL.plain(helm), "run `make manifests`"
    assert pathlib.Path(TOOL.RUNS).read_text() == TOOL.runs_rights(helm), "run `make manifests`"


def test_the_chart_is_limited_to_one_namespace_and_names_it(helm):
    done = subprocess.run(TOOL.template(helm, "elsewhere"), capture_output=True, text=True)
    assert done.returncode != 0
    assert "install it in the namespace crossplane-system" in done.stderr


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("replica: 3", "a value that there is not"),
        ("replicas: many", "no number"),
        ("rbac: {composed: [{apiGroups: [apps], resources: [deployments]}]}", "a rule without verbs"),
    ],
)
def test_values_that_make_no_sense_are_refused(helm, values, reason):
    command = [*TOOL.template(helm), "--values", "-"]
    done = subprocess.run(command, input=values, capture_output=True, text=True)
    assert done.returncode != 0, reason
    assert "values don't meet the specifications of the schema" in done.stderr


def test_disabled_parts_are_absent(helm):
    objects = rendered(helm, NOTHING)
    kinds = {obj["kind"] for obj in objects}
    assert not kinds & {"Service", "PodDisruptionBudget", "ValidatingWebhookConfiguration"}
    [container] = named(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert "--enable-webhooks=false" in container["args"]
    assert container["image"] == "crossply@sha256:abc"


def test_beside_crossplane_nothing_has_a_name_of_crossplanes_chart(helm):
    objects = rendered(helm, "rbac: {sharedRoles: false}")
    reserved = {"crossplane", "crossplane-admin", "crossplane-edit", "crossplane-view", "crossplane-browse"}
    reserved |= {f"crossplane:aggregate-to-{role}" for role in ("admin", "edit", "view", "browse")}
    reserved |= {"crossplane:system:aggregate-to-crossplane", "crossplane-no-usages", "crossplane-webhooks"}
    assert not reserved & {obj["metadata"]["name"] for obj in objects}
    binding = named(objects, "ClusterRoleBinding", "crossply")
    assert binding["roleRef"]["name"] == "crossplane", (
        "whose rights Crossplane's chart gathers in the same way"
    )


def test_nobody_gets_rights_that_the_controllers_must_not_have():
    """No role of theirs has a wildcard for verbs, and only the impersonated user may escalate."""
    for obj in [*manifests(), *manifests(RUNS)]:
        name = obj["metadata"]["name"]
        for rule in obj.get("rules") or ():
            is_own = name.startswith("crossplane:system") or name.startswith("crossply")
            assert not (is_own and "*" in rule["verbs"]), name
            assert "bind" not in rule["verbs"], name
            if {"escalate"} & set(rule["verbs"]):
                assert name == "crossply:keeper"
        if obj["kind"].endswith("Binding") and name == "crossply:keeper":
            [subject] = obj["subjects"]
            assert subject["kind"] == "User"


def test_pods_may_do_nothing_that_the_restricted_profile_forbids():
    [deployment] = [obj for obj in manifests() if obj["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert deployment["spec"]["replicas"] == 2


def test_the_flags_in_the_deployment_are_flags_of_the_command():
    from crossply.cli.controller.command import COMMAND

    known = {flag.name for flag in COMMAND.flags}
    assert controller_flags()[0] == "controller"
    assert {word.removeprefix("--").partition("=")[0] for word in controller_flags()[1:]} <= known


@pytest.mark.parametrize("values", ["", EVERYTHING, NOTHING])
async def test_a_real_api_server_accepts_all_of_it(request, installed, helm, values):
    if request.config.getoption("--server") != "real":
        pytest.skip("only a real API server knows all of these kinds: make test-cluster")
    objects = rendered(helm, values)

    async with Client(installed.admin) as client:
        discovery = Discovery(client)
        for obj in objects:
            if obj["kind"] == "ServiceMonitor":
                continue  # its kind is not part of Kubernetes
            kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
            query = {"fieldManager": "helm", "force": "true", "dryRun": "All"}
            await client.request(
                "PATCH",
                path(kind, obj),
                body=obj,
                query=query,
                content_type="application/apply-patch+yaml",
            )
