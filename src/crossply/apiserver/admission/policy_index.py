"""An index of the ValidatingAdmissionPolicies and their bindings, kept current by watching the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crossply.apiserver.admission.cel_evaluation import Conditions
from crossply.apiserver.admission.cel_expressions import Expression
from crossply.apiserver.admission.matching import Matching, read_matching
from crossply.apiserver.storage import Event, Store
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True)
class Validation:
    """One validation of a policy."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """A ValidatingAdmissionPolicy with compiled expressions."""

    name: str
    matching: Matching
    conditions: Conditions
    variables: dict[str, Expression]
    validations: tuple[Validation, ...]
    annotations: tuple[Expression, ...]
    ignores_failure: bool
    param_kind: Object | None


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a policy applies, with which parameters, and which actions it takes."""

    name: str
    policy: str
    matching: Matching
    actions: frozenset[str]
    param_ref: Object | None


def read_policy(obj: Object) -> Policy:
    spec = obj.get("spec") or {}
    ignores = spec.get("failurePolicy") == "Ignore"
    return Policy(
        obj["metadata"]["name"],
        read_matching(spec.get("matchConstraints"), without_rules=True),
        Conditions(spec.get("matchConditions") or (), ignores),
        {
            variable["name"]: Expression(variable.get("expression", ""))
            for variable in spec.get("variables") or ()
        },
        tuple(_validation(validation) for validation in spec.get("validations") or ()),
        tuple(
            Expression(annotation.get("valueExpression", ""))
            for annotation in spec.get("auditAnnotations") or ()
        ),
        ignores,
        spec.get("paramKind"),
    )


def _validation(spec: Object) -> Validation:
    message_expression = spec.get("messageExpression")
    return Validation(
        Expression(spec.get("expression", "")),
        (spec.get("message") or "").strip(),
        Expression(message_expression) if message_expression else None,
        spec.get("reason") or "Invalid",
    )


def read_binding(obj: Object) -> Binding:
    spec = obj.get("spec") or {}
    return Binding(
        obj["metadata"]["name"],
        spec.get("policyName", ""),
        read_matching(spec.get("matchResources"), without_rules=True),
        frozenset(spec.get("validationActions") or ()),
        spec.get("paramRef"),
    )


class PolicyIndex:
    """Every bound policy, with its bindings."""

    def __init__(self, store: Store) -> None:
        self.bound: tuple[tuple[Policy, tuple[Binding, ...]], ...] = ()
        self._policies: dict[str, Policy] = {}
        self._bindings: dict[str, Binding] = {}
        for entry in store.list(POLICIES):
            self._policies[entry.key[2]] = read_policy(decode(entry.data))
        for entry in store.list(BINDINGS):
            self._bindings[entry.key[2]] = read_binding(decode(entry.data))
        self._join()
        self._stops: tuple[Callable[[], None], ...] = (
            store.subscribe(POLICIES, lambda event: self._on_event(event, self._policies, read_policy)),
            store.subscribe(BINDINGS, lambda event: self._on_event(event, self._bindings, read_binding)),
        )

    def stop(self) -> None:
        for stop in self._stops:
            stop()

    def _on_event(self, event: Event, known: dict[str, Any], read: Callable[[Object], Any]) -> None:
        if event.type == "DELETED":
            known.pop(event.key[2], None)
        else:
            known[event.key[2]] = read(decode(event.data))
        self._join()

    def _join(self) -> None:
        by_policy: dict[str, list[Binding]] = {}
        for _, binding in sorted(self._bindings.items()):
            by_policy.setdefault(binding.policy, []).append(binding)
        self.bound = tuple(
            (policy, tuple(by_policy[name]))
            for name, policy in sorted(self._policies.items())
            if name in by_policy
        )
