"""The default ClusterRoles and ClusterRoleBindings: Kubernetes' own, but for those of absent components.

Nodes, the scheduler and the controller manager do not exist here, so neither do their roles. Rules are in
Kubernetes' order, because SelfSubjectRulesReview and `kubectl describe` show it.
"""

from __future__ import annotations

from crossply.apiserver.auth.rbac.rules import GROUP, Rule
from crossply.apiserver.auth.system_users_and_groups import (
    AUTHENTICATED,
    MASTERS,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
)
from crossply.values import Object

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_API_VERSION = f"{GROUP}/v1"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {AUTO_UPDATE: "true"}

_READ = ("get", "list", "watch")
_WRITE = ("create", "update", "patch", "delete", "deletecollection")
_READ_WRITE = (*_READ, *_WRITE)
_CREATE = ("create",)
_PUBLIC = ("/livez", "/readyz", "/healthz", "/version", "/version/")
_HEALTH = ("/livez", "/readyz", "/healthz", "/livez/*", "/readyz/*", "/healthz/*")


def _rule(verbs: tuple[str, ...], groups: str, resources: str) -> Rule:
    """A rule about resources. Groups and resources are separated by spaces; `core` is the core group."""
    named = tuple("" if group == "core" else group for group in groups.split())
    return Rule(tuple(sorted(verbs)), tuple(sorted(named)), tuple(sorted(resources.split())))


def _urls(*urls: str) -> Rule:
    return Rule(("get",), urls=tuple(sorted(urls)))


_VIEW = (
    _rule(
        _READ,
        "core",
        "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status "
        "endpoints persistentvolumeclaims persistentvolumeclaims/status configmaps",
    ),
    _rule(
        _READ,
        "core",
        "limitranges resourcequotas bindings pods/status resourcequotas/status namespaces/status "
        "replicationcontrollers/status pods/log",
    ),
    _rule(_READ, "core", "namespaces"),
    _rule(_READ, "core events.k8s.io", "events"),
    _rule(_READ, "discovery.k8s.io", "endpointslices"),
    _rule(
        _READ,
        "apps",
        "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets "
        "daemonsets/status deployments deployments/status deployments/scale replicasets replicasets/status "
        "replicasets/scale",
    ),
    _rule(_READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    _rule(_READ, "batch", "jobs cronjobs cronjobs/status jobs/status"),
    _rule(
        _READ,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses "
        "ingresses/status replicasets replicasets/scale replicasets/status replicationcontrollers/scale "
        "networkpolicies",
    ),
    _rule(_READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
    _rule(_READ, "networking.k8s.io", "networkpolicies ingresses ingresses/status"),
    _rule(_READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
)
_EDIT = (
    _rule(_READ, "core", "pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy"),
    _rule(("impersonate",), "core", "serviceaccounts"),
    _rule(_WRITE, "core", "pods pods/attach pods/proxy pods/exec pods/portforward"),
    _rule(_CREATE, "core", "pods/eviction"),
    _rule(
        _WRITE,
        "core",
        "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy "
        "persistentvolumeclaims configmaps secrets",
    ),
    _rule(_CREATE, "core", "serviceaccounts/token"),
    _rule(_WRITE, "core events.k8s.io", "events"),
    _rule(
        _WRITE,
        "apps",
        "statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback "
        "replicasets replicasets/scale",
    ),
    _rule(_WRITE, "autoscaling", "horizontalpodautoscalers"),
    _rule(_WRITE, "batch", "jobs cronjobs"),
    _rule(
        _WRITE,
        "extensions",
        "daemonsets deployments deployments/scale deployments/rollback ingresses replicasets "
        "replicasets/scale replicationcontrollers/scale networkpolicies",
    ),
    _rule(_WRITE, "policy", "poddisruptionbudgets"),
    _rule(_WRITE, "networking.k8s.io", "networkpolicies ingresses"),
    _rule(_READ_WRITE, "coordination.k8s.io", "leases"),
    _rule(_WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
)
_ADMIN = (
    _rule(_CREATE, "authorization.k8s.io", "localsubjectaccessreviews"),
    _rule(_READ_WRITE, GROUP, "roles rolebindings"),
)
_RULES: dict[str, tuple[Rule, ...]] = {
    "cluster-admin": (Rule(("*",), ("*",), ("*",)), Rule(("*",), urls=("*",))),
    "system:discovery": (_urls(*_PUBLIC, "/openapi", "/openapi/*", "/api", "/api/*", "/apis", "/apis/*"),),
    "system:monitoring": (
        _urls("/metrics", "/metrics/slis", "/flagz", "/statusz", *_HEALTH),
        _rule(("get",), "core", "nodes/metrics"),
    ),
    "system:basic-user": (
        _rule(_CREATE, "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
        _rule(_CREATE, "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:public-info-viewer": (_urls(*_PUBLIC),),
    "system:auth-delegator": (
        _rule(_CREATE, "authentication.k8s.io", "tokenreviews"),
        _rule(_CREATE, "authorization.k8s.io", "subjectaccessreviews"),
    ),
    "system:service-account-issuer-discovery": (
        _urls(
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration/",
            "/openid/v1/jwks",
            "/openid/v1/jwks/",
        ),
    ),
}
_AGGREGATED = {"admin": _ADMIN, "edit": _EDIT, "view": _VIEW}
_FEEDS = {"edit": "admin", "view": "edit"}
_BINDINGS = {
    "cluster-admin": (MASTERS,),
    "system:monitoring": ("system:monitoring",),
    "system:discovery": (AUTHENTICATED,),
    "system:basic-user": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:service-account-issuer-discovery": (SERVICE_ACCOUNTS,),
}


def cluster_roles() -> list[Object]:
    plain = [_cluster_role(name, {"rules": _bodies(rules)}) for name, rules in _RULES.items()]
    return plain + [role for name in _AGGREGATED for role in _aggregated_pair(name)]


def cluster_role_bindings() -> list[Object]:
    """The default ClusterRoleBindings, each named like its role."""
    return [_cluster_role_binding(role, groups) for role, groups in _BINDINGS.items()]


def _aggregated_pair(name: str) -> list[Object]:
    """An aggregating role, and the role that has its own rules."""
    gathering = {
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": _aggregation_label(name)}]},
        "rules": None,
    }
    fed = _aggregation_label(_FEEDS[name]) if name in _FEEDS else {}
    part = {"rules": _bodies(_AGGREGATED[name])}
    return [
        _cluster_role(name, gathering, fed),
        _cluster_role(f"system:aggregate-to-{name}", part, _aggregation_label(name)),
    ]


def _aggregation_label(name: str) -> dict[str, str]:
    return {f"{GROUP}/aggregate-to-{name}": "true"}


def _cluster_role(name: str, fields: Object, labels: dict[str, str] | None = None) -> Object:
    return {"apiVersion": _API_VERSION, "kind": "ClusterRole", "metadata": _metadata(name, labels), **fields}


def _cluster_role_binding(role: str, groups: tuple[str, ...]) -> Object:
    return {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": _metadata(role),
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": group} for group in groups],
    }


def _metadata(name: str, labels: dict[str, str] | None = None) -> Object:
    return {"name": name, "labels": {**_LABELS, **(labels or {})}, "annotations": dict(_ANNOTATIONS)}


def _bodies(rules: tuple[Rule, ...]) -> list[Object]:
    return [rule.body() for rule in rules]
