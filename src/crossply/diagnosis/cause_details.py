"""Details of a cause that a condition only hints at: from events, Compositions, Functions and logs.

Each rule knows one sort of failure, by the sentence that the control plane, the API server or a provider
writes for it; the first that fits decides.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from difflib import get_close_matches

import orjson

from crossply.compose.conditions import RECONCILE_PAUSED
from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, annotations_of
from crossply.compose.unmet_readiness_check import unmet_check, unmet_check_of_conditions
from crossply.diagnosis.composition_selection_reason import explain_selection
from crossply.diagnosis.evidence import REFUSED, Evidence
from crossply.diagnosis.managed_rules import MANAGED_RULES
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import kubectl, kubectl_name
from crossply.kinds.definition import ServiceAccount
from crossply.resource_tree.node import NOT_FOUND, Node

Rule = Callable[[Cause, Node, Node, Evidence], Cause | None]
"""Takes the cause, its resource, the resource above it, and the evidence."""

_GRANT = "; to grant it: "
_REFUSED = re.compile(rf'{REFUSED}"(?P<resource>[^"]+)": (?P<reason>.+)', re.DOTALL)
_INVALID = re.compile(r'(?P<type>\S+) "(?P<name>[^"]+)" is invalid: (?P<fields>.+)', re.DOTALL)
# The object itself is called [] or <nil>.
_FIELD = re.compile(r"\[?(?P<path>[^\s:\[\]<][^\s:]*): (?P<problem>.+)", re.DOTALL)
_FATAL = re.compile(r'pipeline step "(?P<step>[^"]+)" returned a fatal result: (?P<message>.+)', re.DOTALL)
_CALL = re.compile(r'cannot run Composition pipeline step "(?P<step>[^"]+)": (?P<message>.+)', re.DOTALL)
_NO_COMPOSITION = re.compile(r'Composition\.\S+ "(?P<name>[^"]+)" not found')
_NO_REVISION = re.compile(r'CompositionRevision\.\S+ "(?P<name>[^"]+)" not found')
_INDEX = re.compile(r"\[.*?\]")
_WRAPPED_HEALTH = re.compile(
    r'UnhealthyPackageRevision: Package \w+ health is "False" with message: '
    r"(?:post establish runtime hook failed for package: )?(?:provider is unavailable: )?"
)
"""What the conditions of a package and its revision put before the reason."""
_MOST_EVENTS = 3


def refine(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause:
    """The cause as it is known best."""
    for rule in RULES:
        refined = rule(cause, node, parent, evidence)
        if refined is not None:
            return refined
    evidence_text = " ".join(cause.evidence)
    failures = evidence.failures(node)[:_MOST_EVENTS]
    events = [f"event: {message}" for message in failures if message not in evidence_text]
    return cause._replace(evidence=(*cause.evidence, *events))


def _missing_right(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    sentences = (cause.sentence, *evidence.failures(node), *evidence.failures(parent))
    for sentence in sentences:
        message, separator, commands = sentence.partition(_GRANT)
        if separator:
            refusal = message.rpartition(". ")[2]
            absent = evidence.absent_account
            if absent and refusal.startswith(f"service account {absent.namespace}/{absent.name} "):
                return _absent_account(cause, absent)
            shown = tuple(text for text in cause.evidence if _GRANT not in text)
            return cause._replace(sentence=f"a right is missing: {refusal}", evidence=shown, command=commands)
    return None


def _absent_account(cause: Cause, account: ServiceAccount) -> Cause:
    """Rights of a service account that does not exist are not what is missing first."""
    shown = tuple(text for text in cause.evidence if _GRANT not in text)
    return cause._replace(
        sentence=f"service account {account.namespace}/{account.name} does not exist, "
        "which the definition composes as (spec.serviceAccountRef)",
        evidence=shown,
        command=f"kubectl create serviceaccount {account.name} -n {account.namespace}",
    )


def _refused_by_schema(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    """A composed resource that the API server refused: only an event of the XR says why."""
    is_missing = node.problem is not None and node.problem.sort == NOT_FOUND
    owner = parent if is_missing else node
    if not is_missing and not re.search(r"Unsynced resources|some resources were invalid", cause.sentence):
        return None
    for message in evidence.failures(owner):
        refused = _REFUSED.search(message)
        if refused and (not is_missing or f'"{node.reference.name}"' in message):
            resource, reason = refused["resource"], refused["reason"]
            sentence = f'composed resource "{resource}" is refused: {reason}'
            return _with_field(cause, node, resource, reason, message) or cause._replace(
                sentence=sentence, evidence=(*cause.evidence, f"event: {message}")
            )
    return None


def _with_field(cause: Cause, node: Node, resource: str, reason: str, message: str) -> Cause | None:
    invalid = _INVALID.search(reason)
    field = _FIELD.match(invalid["fields"]) if invalid else None
    if invalid is None or field is None:
        return None
    sentence = (
        f'composed resource "{resource}" has a wrong field: {field["path"]}: {field["problem"].rstrip("]")}'
    )
    path = _INDEX.sub("", field["path"])
    command = f"kubectl explain {invalid['type'].partition('.')[0].lower()}.{path}"
    if node.problem:
        command += f" --api-version={node.reference.api_version}"
    return cause._replace(sentence=sentence, evidence=(*cause.evidence, f"event: {message}"), command=command)


def _fatal_result(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    fatal = _FATAL.search(cause.sentence)
    if fatal is None:
        return None
    function = evidence.function_of(node.object, fatal["step"])
    called = f" (Function {function})" if function else ""
    return cause._replace(
        sentence=f'step "{fatal["step"]}"{called} returned a fatal result: {fatal["message"]}',
        command=_composition_command(node, evidence),
    )


def _call_failed(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    call = _CALL.search(cause.sentence)
    if call is None:
        return None
    function = evidence.function_of(node.object, call["step"])
    step = f'step "{call["step"]}"'
    if not function:
        return cause._replace(sentence=f"{step} failed: {call['message']}")
    package = evidence.functions.get(function)
    if package is None and evidence.functions:
        near = get_close_matches(function, list(evidence.functions), 3, 0.5)
        advice = f"; did you mean {' or '.join(near)}?" if near else ""
        return cause._replace(
            sentence=f"Function {function} is not installed, which {step} calls{advice}",
            command="kubectl get functions.pkg.crossplane.io",
        )
    lines = evidence.logs.get(f"function/{function}", ())
    health = _unhealthy(Node(package)) if package else ""
    problem = f"Function {function} is not running: {health}" if health else call["message"]
    return cause._replace(
        sentence=f"{step} failed: {problem}",
        evidence=(*cause.evidence, *(f"log of function/{function}: {line}" for line in lines)),
        command=f"crossply logs function/{function}"
        if lines
        else f"kubectl describe functions.pkg.crossplane.io {function}",
    )


def _unhealthy(package: Node) -> str:
    for name in ("Installed", "Healthy"):
        condition = package.condition(name)
        if condition.status != "True":
            return ": ".join(part for part in (condition.reason, condition.message) if part)
    return ""


def _no_composition(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    is_selection = "no compatible Compositions found" in cause.sentence
    if evidence.definition is None or not evidence.knows_compositions:
        return None
    if not is_selection and not _NO_COMPOSITION.search(cause.sentence):
        return None
    selection = explain_selection(
        node.object, evidence.machinery, evidence.definition, evidence.compositions, evidence.revisions
    )
    return cause._replace(
        sentence=selection.composition,
        command="kubectl get compositions.apiextensions.crossplane.io --show-labels"
        if is_selection
        else "kubectl get compositions.apiextensions.crossplane.io",
    )


def _no_revision(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    missing = _NO_REVISION.search(cause.sentence)
    if missing is None:
        return None
    patch = {"spec": evidence.machinery.holding("compositionUpdatePolicy", "Automatic")}
    words = shlex.quote(orjson.dumps(patch).decode())
    return cause._replace(
        sentence=f"it is pinned to CompositionRevision {missing['name']}, which does not exist: "
        "name one that does, or let it follow the newest",
        command=f"kubectl patch {kubectl_name(node)} --type=merge -p {words}",
    )


def _paused(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    if node.deleting or node.condition("Synced").reason != RECONCILE_PAUSED.reason:
        return None
    return cause._replace(sentence="it is paused: it is not reconciled until it is resumed")


def _readiness_check(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    name = annotations_of(node.object).get(RESOURCE_NAME_ANNOTATION)
    if node.problem or not name:
        return None
    find = unmet_check if evidence.has_whole_objects else unmet_check_of_conditions
    inputs = [step.get("input") for step in evidence.pipeline(parent.object)]
    unmet = find(name, node.object, inputs)
    return cause._replace(sentence=unmet.sentence_with_value) if unmet else None


def _circuit_open(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    circuit = node.condition("Responsive")
    if circuit.status != "False":
        return None
    return cause._replace(
        sentence=f"{cause.sentence}; its circuit breaker is open: {circuit.message or circuit.reason}"
    )


def _provider_down(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    if node.origin is None or not node.origin.provider:
        return None
    name = f"provider/{node.origin.provider}"
    lines = evidence.logs.get(name, ())
    cause = cause._replace(sentence=_WRAPPED_HEALTH.sub("", cause.sentence))
    if not lines:
        return cause
    return cause._replace(
        evidence=(*cause.evidence, *(f"log of {name}: {line}" for line in lines)),
        command=f"crossply logs {name}",
    )


def _package_down(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    if not node.is_package:
        return None
    name = f"{node.reference.kind.lower()}/{node.reference.name}"
    lines = [f"log of {name}: {line}" for line in evidence.logs.get(name, ())]
    return cause._replace(evidence=(*cause.evidence, *lines)) if lines else None


def _composition_command(node: Node, evidence: Evidence) -> str:
    revision = evidence.machinery.name_in(node.object, "compositionRevisionRef")
    if not revision:
        return kubectl("describe", node)
    return f"kubectl get compositionrevisions.apiextensions.crossplane.io {revision} -o yaml"


RULES: tuple[Rule, ...] = (
    _missing_right,
    _refused_by_schema,
    _fatal_result,
    _call_failed,
    _no_composition,
    _no_revision,
    _paused,
    _provider_down,
    _package_down,
    *MANAGED_RULES,
    _readiness_check,
    _circuit_open,
)
