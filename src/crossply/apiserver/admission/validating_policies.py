"""Evaluates ValidatingAdmissionPolicies: every policy that is bound to a write; one violation denies it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from crossply.apiserver.admission.attributes import Attributes, at_version
from crossply.apiserver.admission.cel_environment import Authorize
from crossply.apiserver.admission.cel_evaluation import Evaluation, namespace_for_expressions
from crossply.apiserver.admission.match_conditions import ConditionFailed
from crossply.apiserver.admission.namespace_lifecycle import Namespaces
from crossply.apiserver.admission.policy_index import Binding, Policy, Validation
from crossply.apiserver.admission.policy_params import (
    ParamsProblem,
    UnknownParamKind,
    check_param_kind,
    find_params,
)
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.event_loop_offloading import in_event_loop
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object

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
                check_param_kind(self._context, policy)
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
        params = await find_params(self._context, policy, binding, write.namespace)
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
