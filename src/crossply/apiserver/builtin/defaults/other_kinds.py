"""Defaults of Namespaces, Secrets, roles, definitions, Services and network policies, and of the kinds of
admission and storage.
"""

from __future__ import annotations

import base64

from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

_CORE, _RBAC = "io.k8s.api.core.v1", "io.k8s.api.rbac.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_RBAC_GROUP = "rbac.authorization.k8s.io"
_NAME_LABEL = "kubernetes.io/metadata.name"
_NET = "io.k8s.api.networking.v1"
_SINGLE_ADDRESS = ("ClusterIP", "NodePort", "LoadBalancer")
_THREE_HOURS = 10800


def _namespace(namespace: Object) -> None:
    name = namespace["metadata"].get("name")
    if name:
        labels = namespace["metadata"].get("labels") or {}
        namespace["metadata"]["labels"] = {**labels, _NAME_LABEL: name}


def _secret(secret: Object) -> None:
    """stringData is write-only: it becomes data."""
    secret.setdefault("type", "Opaque")
    texts = secret.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _binding(binding: Object) -> None:
    if not binding["roleRef"].get("apiGroup"):
        binding["roleRef"]["apiGroup"] = _RBAC_GROUP


def _subject(subject: Object) -> None:
    if subject.get("kind") in ("User", "Group"):
        subject.setdefault("apiGroup", _RBAC_GROUP)


def _limit_item(item: Object) -> None:
    if item.get("type") != "Container":
        return
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    item["default"], item["defaultRequest"] = limits, requests
    for key in ("default", "defaultRequest"):
        if not item[key]:
            del item[key]


def _node_status(status: Object) -> None:
    if status.get("capacity"):
        status.setdefault("allocatable", dict(status["capacity"]))


def _definition(definition: Object) -> None:
    """Set the names of a CustomResourceDefinition, and the stored version."""
    spec = definition["spec"]
    names = spec["names"]
    names.setdefault("singular", names.get("kind", "").lower())
    if names.get("kind"):
        names.setdefault("listKind", names["kind"] + "List")
    spec.setdefault("conversion", {"strategy": "None"})
    if not definition["status"].get("storedVersions"):
        stored = [version.get("name", "") for version in spec.get("versions") or () if version.get("storage")]
        definition["status"]["storedVersions"] = stored[:1] or None


DEFAULTS = {
    f"{_CORE}.Namespace": _namespace,
    f"{_CORE}.NamespaceStatus": setting(phase="Active"),
    f"{_CORE}.Secret": _secret,
    f"{_CORE}.LimitRangeItem": _limit_item,
    f"{_CORE}.NodeStatus": _node_status,
    f"{_RBAC}.RoleBinding": _binding,
    f"{_RBAC}.ClusterRoleBinding": _binding,
    f"{_RBAC}.Subject": _subject,
    "io.k8s.api.scheduling.v1.PriorityClass": setting(preemptionPolicy="PreemptLowerPriority"),
    f"{_EXTENSIONS}.CustomResourceDefinition": _definition,
    f"{_EXTENSIONS}.ServiceReference": setting(port=443),
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference": setting(port=443),
}


_ADMISSION = "io.k8s.api.admissionregistration.v1"


def _matching(obj: Object) -> None:
    obj.setdefault("matchPolicy", "Equivalent")
    obj.setdefault("namespaceSelector", {})
    obj.setdefault("objectSelector", {})


def _validating(webhook: Object) -> None:
    _matching(webhook)
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("timeoutSeconds", 10)


def _mutating(webhook: Object) -> None:
    _validating(webhook)
    webhook.setdefault("reinvocationPolicy", "Never")


def _service(service: Object) -> None:
    spec = service["spec"]
    _affinity(spec)
    spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and spec.get("externalIPs")
    ):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] in _SINGLE_ADDRESS:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for point in service["status"]["loadBalancer"].get("ingress") or ():
            if point.get("ip"):
                point.setdefault("ipMode", "VIP")


def _affinity(spec: Object) -> None:
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        client.setdefault("timeoutSeconds", _THREE_HOURS)
        spec["sessionAffinityConfig"] = {"clientIP": client}


def _network_policy_spec(spec: Object) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


NETWORK_DEFAULTS = {
    "io.k8s.api.core.v1.Service": _service,
    "io.k8s.api.core.v1.EndpointPort": setting(protocol="TCP"),
    "io.k8s.api.discovery.v1.EndpointPort": setting(name="", protocol="TCP"),
    f"{_NET}.NetworkPolicyPort": setting(protocol="TCP"),
    f"{_NET}.NetworkPolicySpec": _network_policy_spec,
    f"{_NET}.IngressClassParametersReference": setting(scope="Cluster"),
}


ADMISSION_DEFAULTS = {
    f"{_ADMISSION}.ValidatingWebhook": _validating,
    f"{_ADMISSION}.MutatingWebhook": _mutating,
    f"{_ADMISSION}.RuleWithOperations": setting(scope="*"),
    f"{_ADMISSION}.NamedRuleWithOperations": setting(scope="*"),
    f"{_ADMISSION}.ServiceReference": setting(port=443),
    f"{_ADMISSION}.ValidatingAdmissionPolicySpec": setting(failurePolicy="Fail"),
    f"{_ADMISSION}.MatchResources": _matching,
}


_STORAGE = "io.k8s.api.storage.v1"

STORAGE_DEFAULTS = {
    f"{_CORE}.PersistentVolumeSpec": setting(persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem"),
    f"{_CORE}.PersistentVolumeStatus": setting(phase="Pending"),
    f"{_CORE}.PersistentVolumeClaimSpec": setting(volumeMode="Filesystem"),
    f"{_CORE}.PersistentVolumeClaimStatus": setting(phase="Pending"),
    f"{_STORAGE}.StorageClass": setting(reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    f"{_STORAGE}.CSIDriverSpec": setting(
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        volumeLifecycleModes=["Persistent"],
        requiresRepublish=False,
        seLinuxMount=False,
    ),
}
