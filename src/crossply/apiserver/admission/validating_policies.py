"""Evaluates ValidatingAdmissionPolicies: every policy that is bound to a write; one violation denies it.

A policy is evaluated once with each of its parameters, the objects that its bindings refer to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from crossply.apiserver.admission.attributes import Attributes, at_version
from crossply.apiserver.admission.cel_environment import Authorize
from crossply.apiserver.admission.cel_evaluation import ConditionFailed, Evaluation, namespace_for_expressions
from crossply.apiserver.admission.matching import read_selector
from crossply.apiserver.admission.namespace_lifecycle import Namespaces
from crossply.apiserver.admission.policy_index import Binding, Policy, Validation
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.event_loop_offloading import in_event_loop
from crossply.apiserver.registry.conversion import convert
from crossply.apiserver.registry.selectors import labels_match
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.stored_object_codec import decode
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.api_version import split_api_version

LONGEST_MESSAGE = 5 * 1024
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A violation of a policy."""

    message: str
    reason: str = "Invalid"


class Policies:
    def __init__(self, context: ServerContext, namespaces: Namespaces, authorize: Authorize | None) -> None:
        self._context = context
        self._namespaces = namespaces
        self._authorize = authorize

    async def check(self, write: Attributes, bound: tuple[tuple[Policy, tuple[Binding, ...]], ...]) -> None:
        """Raise the first denial of the policies that match a write."""
        denied: list[tuple[str, _Refusal]] = []
        for policy, bindings in bound:
            version = policy.matching.version_for(write, self._namespaces)
            if version is None:
                continue
            try:
                _check_param_kind(self._context, policy)
            except UnknownParamKind as problem:
                why = _unless_ignored(policy, f"failed to configure policy: {problem}")
                denied += [(_title(policy), refusal) for refusal in why]
                continue
            converted = await at_version(self._context, write, version)
            for binding in bindings:
                if binding.matching.version_for(write, self._namespaces) is not None:
                    refusals = await self._refusals(converted, version, policy, binding)
                    denied += [(_title(policy, binding), refusal) for refusal in refusals]
        if denied:
            raise _denial(write, *denied[0])

    async def _refusals(
        self, write: Attributes, version: str, policy: Policy, binding: Binding
    ) -> list[_Refusal]:
        """The violations that deny a write. Those of a binding with the action Warn become warnings."""
        try:
            refusals = await self._violations(write, version, policy, binding)
        except ParamsProblem as problem:
            return _unless_ignored(policy, f"failed to configure binding: {problem}")
        if "Warn" in binding.actions:
            title = _title(policy, binding)
            write.call.warnings += [
                f"Validation failed for {title}: {refusal.message}" for refusal in refusals
            ]
        return refusals if "Deny" in binding.actions else []

    async def _violations(
        self, write: Attributes, version: str, policy: Policy, binding: Binding
    ) -> list[_Refusal]:
        params = await _find_params(self._context, policy, binding, write.namespace)
        namespace = self._namespace(write)
        refusals: list[_Refusal] = []
        authorize = in_event_loop(self._authorize) if self._authorize is not None else None
        for param in params:
            evaluation = partial(
                Evaluation,
                write,
                version,
                authorize,
                params=param,
                namespace=namespace,
                variables=policy.variables,
            )
            work = partial(_evaluate, policy, evaluation)
            refusals += await self._context.background.run(write.call.weight, work)
        return refusals

    def _namespace(self, write: Attributes) -> Object | None:
        if write.is_namespace or not write.namespace:
            return None
        return namespace_for_expressions(self._namespaces.require(write.namespace).obj)


def _evaluate(policy: Policy, new_evaluation: Callable[[], Evaluation]) -> list[_Refusal]:
    evaluation = new_evaluation()
    try:
        if not policy.conditions.match(evaluation):
            return []
    except ConditionFailed as problem:
        return _unless_ignored(policy, str(problem))
    refusals: list[_Refusal] = []
    for validation in policy.validations:
        outcome = evaluation.evaluate(validation.expression)
        if outcome.problem:
            refusals += _unless_ignored(policy, outcome.problem)
        elif outcome.value is not True:
            refusals.append(_Refusal(_message(validation, evaluation), validation.reason))
    for annotation in policy.annotations:
        # Audit annotations are not recorded here; only their errors count.
        outcome = evaluation.evaluate(annotation)
        if outcome.problem:
            refusals += _unless_ignored(policy, outcome.problem)
    return refusals


def _unless_ignored(policy: Policy, problem: str) -> list[_Refusal]:
    return [] if policy.ignores_failure else [_Refusal(problem)]


def _message(validation: Validation, evaluation: Evaluation) -> str:
    if validation.message_expression is not None:
        outcome = evaluation.evaluate(validation.message_expression)
        if isinstance(outcome.value, str):
            text = outcome.value.strip()
            if text and "\n" not in text and len(text.encode()) <= LONGEST_MESSAGE:
                return text
    return validation.message or f"failed expression: {validation.expression.text.strip()}"


def _title(policy: Policy, binding: Binding | None = None) -> str:
    bound = f" with binding '{binding.name}'" if binding is not None else ""
    return f"ValidatingAdmissionPolicy '{policy.name}'{bound}"


def _denial(write: Attributes, title: str, refusal: _Refusal) -> StatusError:
    message = f"{title} denied request: {refusal.message}"
    problem = write.forbidden(message)
    problem.reason = refusal.reason
    problem.status = _CODES.get(refusal.reason, 422)
    problem.details["causes"] = [{"message": message}]
    return problem


class ParamsProblem(CrossplyError):
    """The parameters of a binding cannot be resolved."""

    code = "CP-683"


class UnknownParamKind(CrossplyError):
    """The paramKind of a policy is not served."""

    code = "CP-684"


def _check_param_kind(context: ServerContext, policy: Policy) -> None:
    """Raise UnknownParamKind unless the paramKind of the policy is served."""
    if policy.param_kind is not None:
        _param_resource(context, policy.param_kind)


async def _find_params(
    context: ServerContext, policy: Policy, binding: Binding, namespace: str
) -> list[Object | None]:
    """The parameters to evaluate a policy with, one evaluation each; None stands for no parameters."""
    kind, reference = policy.param_kind, binding.param_ref
    if kind is None or reference is None:
        return [None]
    resource, version = _param_resource(context, kind)
    params_namespace = _params_namespace(resource, reference, namespace)
    params = [decode(data) for data in _stored_params(context, resource, reference, params_namespace)]
    params = await convert(context, resource, params, version)
    if not params and reference.get("parameterNotFoundAction") == "Deny":
        raise ParamsProblem("no params found for policy binding with `Deny` parameterNotFoundAction")
    return list(params)


def _param_resource(context: ServerContext, kind: Object) -> tuple[Resource, str]:
    group, version = split_api_version(kind.get("apiVersion", ""))
    resource = context.registry.by_kind(group, kind.get("kind", ""))
    if resource is None or version not in resource.versions:
        raise UnknownParamKind(
            f"failed to find resource referenced by paramKind: '{_described_kind(group, version, kind)}'"
        )
    return resource, version


def _described_kind(group: str, version: str, kind: Object) -> str:
    return f"{group}/{version}, Kind={kind.get('kind', '')}"


def _params_namespace(resource: Resource, reference: Object, namespace: str) -> str:
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


def _stored_params(
    context: ServerContext, resource: Resource, reference: Object, namespace: str
) -> list[bytes]:
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
