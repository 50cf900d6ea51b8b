"""A captured run as JSON: what the store keeps.

Every object is written once, however often it was part of a question or an answer. A step is written as what
it changed: its request refers to the observed state and to the response before it, and its response has only
those desired resources that differ from the request. The composite resource that a question carries along is
written only where the question is to change it. Secrets are not written (see `redaction`). `decoding`
reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from crossply.compose import effects
from crossply.compose.function_messages import NO_STATE, Request, Resource, Response, State
from crossply.compose.prepared_composition import PreparedComposition
from crossply.errors import CrossplyError
from crossply.runs.capture import Capture
from crossply.runs.object_table import ObjectTable
from crossply.runs.plain_values import plain
from crossply.runs.redaction import Redactor
from crossply.values import Object
from crossply.values.bounded_cache import BoundedCache

FORMAT = 1
_plain_condition = lru_cache(maxsize=16)(plain)
"""Nearly all runs have the same condition."""
SAME = True
"""Stands for a value that is the one before."""
_FRAGMENT_BYTES = 16 << 20


class RunDocument(NamedTuple):
    """A run without its summary, and what redaction has to know."""

    fields: Object
    secrets: set[bytes]
    public: list[tuple[object, ...]]
    """Words of texts in which nothing is secret: names and kinds."""


class RunEncoder:
    """Encodes runs, one at a time."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._fragments: BoundedCache[int, tuple[Any, orjson.Fragment]] = BoundedCache(_FRAGMENT_BYTES)

    def encode(self, capture: Capture) -> RunDocument:
        """The run as a document of plain values; only what was captured is in it."""
        return _Encoding(capture, self._redactor, self._fragment).document()

    def _fragment(self, value: Any) -> orjson.Fragment:
        """A Composition or definition, encoded once for all runs."""
        known = self._fragments.get(id(value))
        if known is None or known[0] is not value:
            data = orjson.dumps(plain(value))
            known = (value, orjson.Fragment(data))
            self._fragments.put(id(value), known, len(data))
        return known[1]


class _Encoding:
    """One run on its way to a document."""

    def __init__(
        self,
        capture: Capture,
        redactor: Redactor,
        fragment: Callable[[Any], orjson.Fragment],
    ) -> None:
        self._capture = capture
        self._redactor = redactor
        self._fragment = fragment
        self._table = table = ObjectTable()
        self._ref, self._live = table.ref, table.live
        self._composite, self._optional = table.composite, table.optional
        self._states: list[Any] = []
        self._state_ids: dict[int, int] = {}
        self._prepared: PreparedComposition | None = None
        self._response: Response | None = None
        """The last response of a function."""
        self._secrets: set[bytes] = set()
        self._public: list[tuple[object, ...]] = []
        self._calls = iter(capture.calls)

    def document(self) -> RunDocument:
        capture, settings = self._capture, self._capture.settings
        exchanges = self._exchanges()
        document: Object = {
            "format": FORMAT,
            "xr": self._ref(capture.xr),
            "machinery": list(settings.machinery.path),
            "definition": None if settings.definition is None else self._fragment(settings.definition),
            "finalizer": settings.finalizer,
            "responsive": _plain_condition(settings.responsive),
            "capabilities": settings.capabilities,
            "context": settings.context,
            "required": plain(dict(capture.required)) if capture.required else {},
            "times": capture.times,
            "exchanges": exchanges,
            "ended_by": _interruption(capture.problem),
        }
        if capture.operation is not None:
            document["operation"] = plain(capture.operation)
            document["writes"] = [[self._optional(old), self._ref(new)] for old, new in capture.writes]
        document["states"] = self._states
        document["objects"] = self._table.objects
        return RunDocument(document, self._secrets, self._public)

    def _exchanges(self) -> list[Any]:
        start, exchanges = self._capture.started, []
        for effect, answer, problem, began, finished in self._capture.exchanges:
            name, encode = _ENCODERS[type(effect)]
            question, result = encode(self, effect, answer if problem is None else None)
            entry = [name, int((began - start) * 1e6), int((finished - began) * 1e6), question, result]
            if problem is not None:
                entry.append(encode_problem(problem))
            exchanges.append(entry)
        return exchanges

    def _details(self, details: Mapping[str, bytes]) -> dict[str, str]:
        if not details:
            return {}
        self._secrets.update(details.values())
        return self._redactor.details(details)

    # Messages

    def _state(self, state: State) -> int:
        """The number of an observed state in the table of states."""
        index = self._state_ids.get(id(state))
        if index is None:
            index = self._state_ids[id(state)] = len(self._states)
            composite = state.composite
            if composite is not None and composite.snapshot is not None:
                self._composite(composite.snapshot.object)
            observed = None if composite is None else self._observed(composite)
            resources = {name: self._observed(resource) for name, resource in state.resources.items()}
            self._states.append([observed, resources])
        return index

    def _observed(self, resource: Resource) -> list[Any]:
        """An observed resource: the object that its snapshot is of, not the view that functions have."""
        snapshot, details = resource.snapshot, resource.connection_details
        ref = self._ref(resource.object if snapshot is None else snapshot.object)
        return [ref, self._details(details) if details else {}, snapshot is not None]

    def _selected(self, resources: Mapping[str, Iterable[Resource]]) -> dict[str, list[Any]]:
        return {
            name: [self._observed(resource) for resource in matches] for name, matches in resources.items()
        }

    def _desired(self, desired: State | None, before: State | None) -> Any:
        if desired is None or desired is NO_STATE:
            return None
        if desired is before:
            return SAME
        old = before.resources if before is not None else {}
        composite, was = desired.composite, before.composite if before is not None else None
        resources = {
            name: SAME if resource == old.get(name) else self._resource_entry(resource, old.get(name))
            for name, resource in desired.resources.items()
        }
        composite_entry = SAME if composite == was else self._resource_entry(composite, was)
        is_same = composite_entry is SAME and all(value is SAME for value in resources.values())
        if is_same and before is not None and before is not NO_STATE and len(old) == len(resources):
            return SAME
        return [composite_entry, resources]

    def _resource_entry(self, resource: Resource | None, before: Resource | None) -> Any:
        if resource is None:
            return None
        is_same = before is not None and resource.object == before.object
        obj, details = SAME if is_same else self._ref(resource.object), resource.connection_details
        return [obj, self._details(details) if details else {}, resource.ready]

    def _request(self, request: Request, step: str) -> Object:
        before = self._response
        document: Object = {
            "observed": self._state(request.observed),
            "desired": self._desired(request.desired, before.desired if before is not None else None),
            "input": SAME if self._is_own_input(request.input, step) else self._optional(request.input),
            "context": SAME
            if before is not None and request.context == before.context
            else self._optional(request.context),
        }
        if request.credentials:
            document["credentials"] = {
                name: self._details(values) for name, values in request.credentials.items()
            }
        if request.required_resources:
            document["required"] = self._selected(request.required_resources)
        if request.extra_resources:
            document["extra"] = self._selected(request.extra_resources)
        if request.required_schemas:
            document["schemas"] = {
                name: self._optional(schema) for name, schema in request.required_schemas.items()
            }
        if request.capabilities != self._capture.settings.capabilities:
            document["capabilities"] = request.capabilities
        return document

    def _is_own_input(self, value: Object | None, name: str) -> bool:
        """Whether the input of a request is what the Composition says, which is written with it."""
        if value is None or self._prepared is None:
            return False
        for prepared in self._prepared.steps:
            if prepared.step.name == name and prepared.input is not None and prepared.input.view is value:
                return True
        return False

    def _answered(self, response: Response, request: Request) -> Object:
        document: Object = {"desired": self._desired(response.desired, request.desired)}
        context = response.context
        document["context"] = SAME if context == request.context else self._optional(context)
        if response.results:
            document["results"] = plain(response.results)
        if response.conditions:
            document["conditions"] = plain(response.conditions)
        if response.requirements is not None:
            document["requirements"] = plain(response.requirements)
        if response.ttl is not None:
            document["ttl"] = response.ttl
        if response.output is not None:
            document["output"] = self._ref(response.output)
        return document

    # Effects: each has a question and, unless it failed, an answer

    def call(self, effect: effects.Call, answer: Response | None) -> tuple[Any, Any]:
        question = {"step": effect.step.name, "request": self._request(effect.request, effect.step.name)}
        self._public.append((effect.step.name, effect.step.function))
        if answer is None:
            return question, None
        note = next(self._calls, None)
        result = self._answered(answer, effect.request)
        if note is not None:
            result["revision"], result["cached"] = note
        # What a second round or the next step is based on.
        self._response = answer
        return question, result

    def fetch_resources(self, effect: effects.FetchResources, answer: Any) -> tuple[Any, Any]:
        objects = None if answer is None else [self._live(snapshot.object) for snapshot in answer]
        return plain(effect.selector), objects

    def fetch_schema(self, effect: effects.FetchSchema, answer: Any) -> tuple[Any, Any]:
        return plain(effect.selector), self._optional(answer)

    def fetch_secret(self, effect: effects.FetchSecret, answer: Any) -> tuple[Any, Any]:
        return [effect.namespace, effect.name], None if answer is None else self._details(answer)

    def fetch_object(self, effect: effects.FetchObject, answer: Any) -> tuple[Any, Any]:
        return plain(effect.ref), None if answer is None else self._live(answer)

    def kind_question(self, effect: Any, answer: Any) -> tuple[Any, Any]:
        return [effect.api_version, effect.kind], answer

    def accept_request(self, effect: effects.AcceptRequest, answer: Any) -> tuple[Any, Any]:
        return effect.token, answer

    def select_composition(self, effect: effects.SelectComposition, answer: Any) -> tuple[Any, Any]:
        return None, answer and [answer.name, answer.changed]

    def select_revision(self, effect: effects.SelectRevision, answer: Any) -> tuple[Any, Any]:
        self._public.append((effect.composition,))
        return effect.composition, answer and [answer.name, answer.changed]

    def fetch_composition(
        self, effect: effects.FetchComposition, answer: PreparedComposition | None
    ) -> tuple[Any, Any]:
        self._prepared = answer
        self._public.append((effect.revision,))
        # The pipeline runs again: its first step has no response before it.
        self._response = None
        return effect.revision, None if answer is None else self._fragment(answer.composition)

    def count_owners(self, effect: effects.CountOwners, answer: Any) -> tuple[Any, Any]:
        return effect.most, answer

    def observe(self, effect: effects.Observe, answer: Any) -> tuple[Any, Any]:
        if answer is None:
            return None, None
        objects = [
            [self._live(observed.snapshot.object), self._details(observed.connection_details)]
            for observed in answer.resources
        ]
        return None, [objects, self._details(answer.connection_details)]

    def no_question(self, effect: Any, answer: Any) -> tuple[Any, Any]:
        return None, answer

    def nothing(self, effect: Any, answer: Any) -> tuple[Any, Any]:
        return None, None

    def record_events(self, effect: effects.RecordEvents, answer: Any) -> tuple[Any, Any]:
        progress = [plain(tuple(group)) if group else [] for group in effect.progress]
        return [plain(tuple(effect.events)) if effect.events else [], progress], None

    def save_composite(self, effect: effects.SaveComposite, answer: Any) -> tuple[Any, Any]:
        question = [self._composite(effect.live), self._composite(effect.desired)]
        return question, None if answer is None else self._live(answer)

    def delete_composed(self, effect: effects.DeleteComposed, answer: Any) -> tuple[Any, Any]:
        return [
            [deletion.name, self._live(deletion.snapshot.object), deletion.reason]
            for deletion in effect.deletions
        ], None

    def apply_composed(self, effect: effects.ApplyComposed, answer: Any) -> tuple[Any, Any]:
        composed = []
        for resource in effect.composed:
            obj, observed = resource.object, resource.observed
            self._public.append((obj.get("apiVersion"), obj.get("kind"), resource.name))
            live = None if observed is None else self._live(observed.object)
            composed.append([resource.name, self._ref(obj), resource.ready, live])
        if answer is None:
            return composed, None
        written = {name: self._live(obj) for name, obj in answer.written.items()}
        return composed, [dict(answer.refused), answer.is_observable, written]

    def publish_details(self, effect: effects.PublishDetails, answer: Any) -> tuple[Any, Any]:
        return self._details(effect.details), answer

    def write_status(self, effect: effects.WriteStatus, answer: Any) -> tuple[Any, Any]:
        question = [self._composite(effect.live), self._ref(effect.status)]
        return question, None if answer is None else self._live(answer)

    def diagnose(self, effect: effects.Diagnose, answer: Any) -> tuple[Any, Any]:
        composed = [self._ref(obj) for obj in effect.composed]
        question = [encode_problem(effect.problem), effect.composition, composed]
        if answer is None:
            return question, None
        return question, [encode_problem(answer.problem), self._live(answer.live), answer.is_invalid]


_Encoder = Callable[[_Encoding, Any, Any], tuple[Any, Any]]
_ENCODER_OF: dict[type, _Encoder] = {
    effects.Call: _Encoding.call,
    effects.FetchResources: _Encoding.fetch_resources,
    effects.FetchSchema: _Encoding.fetch_schema,
    effects.FetchSecret: _Encoding.fetch_secret,
    effects.FetchObject: _Encoding.fetch_object,
    effects.IsNamespaced: _Encoding.kind_question,
    effects.FindScope: _Encoding.kind_question,
    effects.AcceptRequest: _Encoding.accept_request,
    effects.SelectComposition: _Encoding.select_composition,
    effects.SelectRevision: _Encoding.select_revision,
    effects.FetchComposition: _Encoding.fetch_composition,
    effects.CountOwners: _Encoding.count_owners,
    effects.Observe: _Encoding.observe,
    effects.ServesWatchedRefs: _Encoding.no_question,
    effects.RecordEvents: _Encoding.record_events,
    effects.SaveComposite: _Encoding.save_composite,
    effects.DeleteComposed: _Encoding.delete_composed,
    effects.ApplyComposed: _Encoding.apply_composed,
    effects.PublishDetails: _Encoding.publish_details,
    effects.WatchDependencies: _Encoding.nothing,
    effects.WriteStatus: _Encoding.write_status,
    effects.RemoveFinalizer: _Encoding.nothing,
    effects.Diagnose: _Encoding.diagnose,
}
_ENCODERS = {kind: (kind.__name__, encoder) for kind, encoder in _ENCODER_OF.items()}


def encode_problem(problem: CrossplyError) -> Object:
    """An error with the fields that it carries."""
    fields = {
        name: value
        for name, value in vars(problem).items()
        if name not in ("code", "hint", "place") and isinstance(value, str | int | bool | None)
    }
    return {
        "type": f"{type(problem).__module__}.{type(problem).__qualname__}",
        "code": problem.code,
        "message": str(problem),
        "hint": problem.hint,
        "place": problem.place,
        "fields": fields,
    }


def _interruption(problem: BaseException | None) -> str:
    """What ended a run without a report; what was reported is among the exchanges."""
    if problem is None or (isinstance(problem, CrossplyError) and problem.code != "CP-801"):
        return ""
    return f"{type(problem).__name__}: {problem}"
