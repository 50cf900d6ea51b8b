"""The parameters of a policy: the objects that its bindings refer to."""

from __future__ import annotations

from crossply.apiserver.admission.matching import read_selector
from crossply.apiserver.admission.policy_index import Binding, Policy
from crossply.apiserver.registry.conversion import convert
from crossply.apiserver.registry.selectors import labels_match
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.stored_object_codec import decode
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.api_version import split_api_version


class ParamsProblem(CrossplyError):
    """The parameters of a binding cannot be resolved."""

    code = "CP-683"


class UnknownParamKind(CrossplyError):
    """The paramKind of a policy is not served."""

    code = "CP-684"


def check_param_kind(context: ServerContext, policy: Policy) -> None:
    """Raise UnknownParamKind unless the paramKind of the policy is served."""
    if policy.param_kind is not None:
        _resource(context, policy.param_kind)


async def find_params(
    context: ServerContext, policy: Policy, binding: Binding, namespace: str
) -> list[Object | None]:
    """The parameters to evaluate a policy with, one evaluation each; None stands for no parameters."""
    kind, reference = policy.param_kind, binding.param_ref
    if kind is None or reference is None:
        return [None]
    resource, version = _resource(context, kind)
    params_namespace = _namespace(resource, reference, namespace)
    params = [decode(data) for data in _chosen(context, resource, reference, params_namespace)]
    params = await convert(context, resource, params, version)
    if not params and reference.get("parameterNotFoundAction") == "Deny":
        raise ParamsProblem("no params found for policy binding with `Deny` parameterNotFoundAction")
    return list(params)


def _resource(context: ServerContext, kind: Object) -> tuple[Resource, str]:
    group, version = split_api_version(kind.get("apiVersion", ""))
    resource = context.registry.by_kind(group, kind.get("kind", ""))
    if resource is None or version not in resource.versions:
        raise UnknownParamKind(
            f"failed to find resource referenced by paramKind: '{_described(group, version, kind)}'"
        )
    return resource, version


def _described(group: str, version: str, kind: Object) -> str:
    return f"{group}/{version}, Kind={kind.get('kind', '')}"


def _namespace(resource: Resource, reference: Object, namespace: str) -> str:
    explicit: str = reference.get("namespace") or ""
    if not resource.namespaced:
        if explicit:
            raise ParamsProblem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    if not explicit and not namespace:
        raise ParamsProblem(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    return explicit or namespace


def _chosen(context: ServerContext, resource: Resource, reference: Object, namespace: str) -> list[bytes]:
    name = reference.get("name")
    if name:
        entry = context.store.get((resource.key, namespace, name))
        return [entry.data] if entry is not None else []
    selector = read_selector(reference.get("selector"))
    entries = context.store.list(resource.key, namespace)
    if not selector:
        return [entry.data for entry in entries]
    return [
        entry.data
        for entry in entries
        if labels_match(selector, decode(entry.data)["metadata"].get("labels") or {})
    ]
