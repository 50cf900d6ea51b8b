"""What built-in kinds must look like, and what of them may change."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.apiserver import builtin
from tests.support.apiserver.builtin_kinds import (
    by_kind,
    created,
    creation_errors,
    deployment,
    new,
    pod_template,
    update_errors,
    updated,
)

RBAC, ADMISSION = "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)

INVALID: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "a key of a Secret",
        new("v1", "Secret", data={"a b": ""}),
        [f'data[a b]: Invalid value: "a b": {KEY_RULE}'],
    ),
    (
        "what a TLS Secret needs",
        new("v1", "Secret", type="kubernetes.io/tls"),
        ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
    ),
    (
        "what a registry Secret holds",
        new("v1", "Secret", type="kubernetes.io/dockercfg", data={".dockercfg": "W10="}),
        [
            'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array '
            "into Go value of type map[string]interface {}"
        ],
    ),
    (
        "a Secret that is too large",
        new("v1", "Secret", stringData={"a": "x" * (1024 * 1024 + 1)}),
        ["data: Too long: may not be more than 1048576 bytes"],
    ),
    (
        "a key in both bags of a ConfigMap",
        new("v1", "ConfigMap", data={"a": ""}, binaryData={"a": ""}),
        ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ),
    (
        "ports and peers of a NetworkPolicy",
        new(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            spec={
                "podSelector": {},
                "ingress": [
                    {
                        "ports": [
                            {"port": 80, "endPort": 90},
                            {"port": 80, "endPort": 70},
                            {"port": "http", "endPort": 70},
                            {"endPort": 70},
                            {"port": 1, "protocol": "X"},
                        ],
                        "from": [
                            {},
                            {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "11.0.0.0/8", "y"]}},
                            {"ipBlock": {"cidr": "x"}, "podSelector": {}},
                        ],
                    }
                ],
                "policyTypes": ["Ingress", "Ingress", "Egress"],
            },
        ),
        [
            "spec.ingress[0].ports[1].endPort: Invalid value: 80: must be greater than or equal to `port`",
            "spec.ingress[0].ports[2].endPort: Invalid value: 70: may not be specified when `port` is "
            "non-numeric",
            "spec.ingress[0].ports[3].endPort: Invalid value: 70: may not be specified when `port` is not "
            "specified",
            'spec.ingress[0].ports[4].protocol: Unsupported value: "X": supported values: "TCP", "UDP", '
            '"SCTP"',
            "spec.ingress[0].from[0]: Required value: must specify a peer",
            'spec.ingress[0].from[1].ipBlock.except[1]: Invalid value: "11.0.0.0/8": must be a strict '
            "subset of `cidr`",
            'spec.ingress[0].from[1].ipBlock.except[2]: Invalid value: "y": must be a valid CIDR value, '
            "(e.g. 10.9.8.0/24 or 2001:db8::/64)",
            'spec.ingress[0].from[2].ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. '
            "10.9.8.0/24 or 2001:db8::/64)",
            "spec.ingress[0].from[2]: Forbidden: may not specify both ipBlock and another peer",
            'spec.policyTypes: Invalid value: ["Ingress","Ingress","Egress"]: may not specify more than two '
            "policyTypes",
        ],
    ),
    (
        "a rule that says nothing",
        new(RBAC, "Role", rules=[{}]),
        [
            "rules[0].verbs: Required value: verbs must contain at least one value",
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
        ],
    ),
    (
        "a binding to nothing",
        new(
            RBAC,
            "ClusterRoleBinding",
            roleRef={"kind": "Role"},
            subjects=[{"kind": "ServiceAccount", "name": "x"}],
        ),
        [
            'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
            "roleRef.name: Required value",
            "subjects[0].namespace: Required value",
        ],
    ),
    (
        "labels that the selector does not match",
        deployment(selector={"matchLabels": {"app": "y"}}),
        [
            'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template '
            "`labels`"
        ],
    ),
    (
        "a template that does not run for ever",
        deployment(template=pod_template(restartPolicy="Never")),
        ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ),
    (
        "a roll-out that cannot move",
        deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
        [
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` '
            "is 0"
        ],
    ),
    (
        "containers that are not",
        new("v1", "Pod", spec={"containers": [{"name": "c"}, {"name": "c", "image": "x"}]}),
        ["spec.containers[0].image: Required value", 'spec.containers[1].name: Duplicate value: "c"'],
    ),
    (
        "a request beyond its limit",
        new(
            "v1",
            "Pod",
            spec={
                "containers": [
                    {
                        "name": "c",
                        "image": "x",
                        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
                    }
                ]
            },
        ),
        [
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu '
            "limit of 1"
        ],
    ),
    (
        "a Job that restarts for ever",
        new("batch/v1", "Job", spec={"template": pod_template()}),
        ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ),
    ("a Service without ports", new("v1", "Service", spec={}), ["spec.ports: Required value"]),
    (
        "ports of a Service that cannot be told apart",
        new(
            "v1", "Service", spec={"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}, {"port": 3}]}
        ),
        ['spec.ports[1].name: Duplicate value: "a"', "spec.ports[2].name: Required value"],
    ),
    (
        "a webhook that has effects",
        new(
            ADMISSION,
            "ValidatingWebhookConfiguration",
            webhooks=[
                {
                    "name": "a.b.c",
                    "sideEffects": "Some",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "http://x"},
                }
            ],
        ),
        [
            'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; "
            "desired format: https://host[/path]",
        ],
    ),
    (
        "actions that say the same twice",
        new(
            ADMISSION,
            "ValidatingAdmissionPolicyBinding",
            spec={"policyName": "x", "validationActions": ["Deny", "Deny"]},
        ),
        ['spec.validationActions[1]: Duplicate value: "Deny"'],
    ),
    (
        "a budget of two kinds",
        new("policy/v1", "PodDisruptionBudget", spec={"minAvailable": "200%"}),
        ['spec.minAvailable: Invalid value: "200%": must not be greater than 100%'],
    ),
    (
        "a Lease of no time",
        new("coordination.k8s.io/v1", "Lease", spec={"leaseDurationSeconds": 0}),
        ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    ),
    (
        "an Event about another namespace",
        new("v1", "Event", metadata={"namespace": "x"}, involvedObject={"namespace": "y"}),
        ['involvedObject.namespace: Invalid value: "y": does not match event.namespace'],
    ),
    (
        "a claim for nothing",
        new("v1", "PersistentVolumeClaim", spec={}),
        [
            "spec.accessModes: Required value: at least 1 access mode is required",
            "spec.resources[storage]: Required value",
        ],
    ),
    (
        "an APIService under another name",
        new("apiregistration.k8s.io/v1", "APIService", "x", spec={"group": "g", "version": "v1"}),
        ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.g"'],
    ),
]


@pytest.mark.parametrize(("description", "obj", "errors"), INVALID, ids=[row[0] for row in INVALID])
def test_an_object_that_breaks_a_rule_is_refused_with_its_sentence(
    description: str, obj: dict[str, Any], errors: list[str]
) -> None:
    assert creation_errors(obj) == errors


FROZEN = "field is immutable when `immutable` is set"
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    (
        "the type of a Secret",
        new("v1", "Secret"),
        {"type": "x"},
        ['type: Invalid value: "x": field is immutable'],
    ),
    ("data of a Secret", new("v1", "Secret", data={"a": ""}), {"data": {}}, []),
    (
        "data of an immutable ConfigMap",
        new("v1", "ConfigMap", data={"a": "b"}, immutable=True),
        {"data": {"a": "c"}},
        [f"data: Forbidden: {FROZEN}"],
    ),
    (
        "that a ConfigMap is immutable",
        new("v1", "ConfigMap", data={"a": "b"}, immutable=True),
        {"immutable": None},
        [f"immutable: Forbidden: {FROZEN}"],
    ),
    (
        "the role of a binding",
        new(RBAC, "RoleBinding", roleRef={"kind": "Role", "name": "x"}),
        {"roleRef": {"kind": "Role", "name": "y"}},
        [
            'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: '
            "cannot change roleRef"
        ],
    ),
    (
        "the selector of a Deployment",
        deployment(),
        {"spec": deployment(selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})["spec"]},
        [
            'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: '
            "field is immutable"
        ],
    ),
    (
        "the address of a Service",
        new("v1", "Service", spec={"ports": [{"port": 80}]}),
        {"spec": {"ports": [{"port": 80}], "clusterIP": "10.96.0.9"}},
        ['spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set'],
    ),
    (
        "a priority",
        new("scheduling.k8s.io/v1", "PriorityClass", value=1),
        {"value": 2},
        ["value: Forbidden: may not be changed in an update."],
    ),
]


@pytest.mark.parametrize(
    ("description", "obj", "changes", "errors"), CHANGES, ids=[row[0] for row in CHANGES]
)
def test_mutable_and_immutable_fields(
    description: str, obj: dict[str, Any], changes: dict[str, Any], errors: list[str]
) -> None:
    assert update_errors(obj, **changes) == errors


def test_an_update_does_not_change_the_status() -> None:
    _, after = updated(deployment(), status={"replicas": 9})
    assert after["status"] == {}


def test_an_update_of_the_status_changes_nothing_else() -> None:
    strategy = builtin.strategy_for(by_kind()["apps", "Deployment"])
    old, new_object = created(deployment()), created(deployment(replicas=9))
    new_object["status"] = {"replicas": 9}
    strategy.prepare_status_update(new_object, old)
    assert new_object["spec"] == old["spec"]
    assert new_object["status"] == {"replicas": 9}


def test_finalizers_of_a_namespace_do_not_change_by_an_update() -> None:
    _, after = updated(new("v1", "Namespace", "x"), spec={"finalizers": []})
    assert after["spec"]["finalizers"] == ["kubernetes"]


GENERATIONS: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    (deployment(), {"spec": deployment(replicas=5)["spec"]}, True, "its spec changes"),
    (deployment(), {"metadata": {"name": "a", "labels": {"x": "y"}}}, False, "metadata is no wish"),
    (new("v1", "ConfigMap"), {"data": {"a": "b"}}, False, "a ConfigMap has no generation"),
    (
        new(ADMISSION, "ValidatingWebhookConfiguration"),
        {"webhooks": [{"name": "a.b.c"}]},
        True,
        "webhooks are its wish",
    ),
]


@pytest.mark.parametrize(("obj", "changes", "counts", "reason"), GENERATIONS)
def test_a_change_of_the_spec_is_a_new_generation(
    obj: dict[str, Any], changes: dict[str, Any], counts: bool, reason: str
) -> None:
    before, after = updated(obj, **changes)
    strategy = builtin.strategy_for(by_kind()[obj["apiVersion"].rpartition("/")[0], obj["kind"]])
    assert strategy.changes_generation(after, before) is counts, reason


def test_kinds_without_generations_do_not_carry_one() -> None:
    assert "generation" not in created(new("v1", "Secret"))["metadata"]
    assert created(deployment())["metadata"]["generation"] == 1


NAMES = [
    ("", "Namespace", "a.b", False, "a namespace is a DNS label"),
    ("", "ConfigMap", "a.b", True, "most names are DNS subdomains"),
    ("rbac.authorization.k8s.io", "ClusterRole", "system:Node", True, "roles are named freely"),
    ("rbac.authorization.k8s.io", "ClusterRole", "a/b", False, "as long as they fit into a path"),
    ("batch", "CronJob", "a" * 53, False, "names of its Jobs are longer"),
]


@pytest.mark.parametrize(("group", "kind", "name", "good", "reason"), NAMES)
def test_names(group: str, kind: str, name: str, good: bool, reason: str) -> None:
    assert (not builtin.strategy_for(by_kind()[group, kind]).name_problems(name)) is good, reason


def test_a_service_that_becomes_internal_gives_its_node_ports_back() -> None:
    balanced = new("v1", "Service", spec={"type": "LoadBalancer", "ports": [{"port": 80}]})
    spec = {**created(balanced)["spec"], "type": "ClusterIP"}
    _, after = updated(balanced, spec=spec)
    assert "nodePort" not in after["spec"]["ports"][0]
    assert "externalTrafficPolicy" not in after["spec"]
