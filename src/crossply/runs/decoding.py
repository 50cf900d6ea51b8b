"""A recorded run out of its JSON: the counterpart of `encoding`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crossply.compose import effects
from crossply.compose.composed_resources import Composed
from crossply.compose.engine_field_paths import machinery_at
from crossply.compose.events import Event, StatusCondition
from crossply.compose.function_messages import (
    NO_STATE,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    Snapshot,
    State,
)
from crossply.compose.garbage_collection import Deletion
from crossply.compose.observed_resources import Observed
from crossply.compose.prepared_composition import PreparedComposition, PreparedStep, prepare, prepare_steps
from crossply.compose.selection import Selected
from crossply.errors import CrossplyError
from crossply.kinds.composition import Composition, ObjectRef
from crossply.kinds.definition import Definition
from crossply.kinds.operation import Operation
from crossply.runs.capture import CallNote
from crossply.runs.encoding import FORMAT, SAME
from crossply.runs.errors import RunUnreadable
from crossply.runs.model import COMPOSITE, OPERATION, Exchange, World
from crossply.runs.plain_values import typed
from crossply.values import Object


class DecodedRun:
    """A run in the engine's own types."""

    def __init__(self, document: Object) -> None:
        """Raises RunUnreadable."""
        if document.get("format") != FORMAT:
            raise RunUnreadable(f"the run was recorded in format {document.get('format')}, not {FORMAT}")
        try:
            self._decode(document)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
            message = f"the recorded run cannot be read: {type(problem).__name__}: {problem}"
            raise RunUnreadable(message) from problem

    def _decode(self, document: Object) -> None:
        decoding = _Decoding(document)
        exchanges = tuple(decoding.exchange(entry) for entry in document["exchanges"])
        self.calls: list[CallNote | None] = decoding.calls
        """How each `Call` was made, in order; None where the function did not answer."""
        self.operation: Operation | None = decoding.operation
        self.writes: list[tuple[Object | None, Object]] = [
            (None if old is None else decoding.objects[old], decoding.objects[new])
            for old, new in document.get("writes") or ()
        ]
        definition = document["definition"]
        self.world = World(
            engine=COMPOSITE if decoding.operation is None else OPERATION,
            xr=decoding.objects[document["xr"]],
            machinery=machinery_at("/".join(document["machinery"][1:])),
            definition=None if definition is None else typed(Definition, definition),
            finalizer=document["finalizer"],
            responsive=typed(StatusCondition, document["responsive"]),
            capabilities=tuple(document["capabilities"]),
            context=document["context"],
            required={name: typed(Requirements, entry) for name, entry in document["required"].items()},
            times=tuple(document["times"]),
            exchanges=exchanges,
            interruption=document["ended_by"],
        )


class _Decoding:
    """One document on its way to a run."""

    def __init__(self, document: Object) -> None:
        self.objects: list[Any] = document["objects"]
        self.xr: Object = self.objects[document["xr"]]
        self.calls: list[CallNote | None] = []
        operation = document.get("operation")
        self.operation = None if operation is None else typed(Operation, operation)
        self._capabilities = tuple(document["capabilities"])
        self._snapshots: dict[int, Snapshot] = {}
        self._states = [self._state(entry) for entry in document["states"]]
        self._compositions: dict[str, PreparedComposition] = {}
        self._prepared: PreparedComposition | None = None
        steps = () if self.operation is None else prepare_steps(self.operation.steps)
        self._steps: dict[str, PreparedStep] = {prepared.step.name: prepared for prepared in steps}
        self._response: Response | None = None

    def exchange(self, entry: list[Any]) -> Exchange:
        name, offset, seconds, question, answer = entry[:5]
        problem = decode_problem(entry[5]) if len(entry) > 5 else None
        effect, result = _DECODERS[name](self, question, answer)
        answer = None if problem is not None else result
        return Exchange(effect, answer, problem, offset / 1e6, seconds / 1e6)

    # Objects

    def _object(self, index: int | None) -> Any:
        return None if index is None else self.objects[index]

    def _snapshot(self, index: int) -> Snapshot:
        """The same snapshot for the same object, so that it is converted once."""
        snapshot = self._snapshots.get(index)
        if snapshot is None:
            snapshot = self._snapshots[index] = Snapshot(self.objects[index])
        return snapshot

    def _details(self, details: Mapping[str, str]) -> dict[str, bytes]:
        return {key: value.encode() for key, value in details.items()}

    # Messages

    def _state(self, entry: list[Any]) -> State:
        composite, resources = entry
        return State(
            None if composite is None else self._observed(composite),
            {name: self._observed(resource) for name, resource in resources.items()},
        )

    def _observed(self, entry: list[Any]) -> Resource:
        index, details, is_snapshot = entry
        if is_snapshot:
            return Resource.of(self._snapshot(index), self._details(details))
        return Resource(self.objects[index], self._details(details))

    def _selected(self, entries: Mapping[str, list[Any]]) -> dict[str, tuple[Resource, ...]]:
        return {name: tuple(map(self._observed, resources)) for name, resources in entries.items()}

    def _desired(self, entry: Any, before: State | None) -> State | None:
        if entry is None:
            return None
        if entry is SAME:
            return before
        composite, resources = entry
        old = before or NO_STATE
        return State(
            self._resource_or_none(composite, old.composite),
            {name: self._required(resource, old, name) for name, resource in resources.items()},
        )

    def _required(self, entry: Any, before: State, name: str) -> Resource:
        resource = self._resource_or_none(entry, before.resources.get(name))
        if resource is None:
            raise ValueError(f"no resource {name}")
        return resource

    def _resource_or_none(self, entry: Any, before: Resource | None) -> Resource | None:
        if entry is None:
            return None
        if entry is SAME:
            return before
        index, details, ready = entry
        if index is SAME and before is not None:
            return Resource(before.object, self._details(details), ready)
        return Resource(self.objects[index], self._details(details), ready)

    def _request(self, entry: Object, step: PreparedStep | None) -> Request:
        before = self._response
        own_input = step.input.view if step is not None and step.input is not None else None
        context = entry["context"]
        return Request(
            self._states[entry["observed"]],
            self._desired(entry["desired"], before.desired if before is not None else None),
            input=own_input if entry["input"] is SAME else self._object(entry["input"]),
            context=before.context if context is SAME and before is not None else self._object(context),
            credentials={
                name: self._details(values) for name, values in entry.get("credentials", {}).items()
            },
            required_resources=self._selected(entry.get("required", {})),
            extra_resources=self._selected(entry.get("extra", {})),
            required_schemas={name: self._object(ref) for name, ref in entry.get("schemas", {}).items()},
            capabilities=tuple(entry.get("capabilities", self._capabilities)),
        )

    def _answered(self, entry: Object, request: Request) -> Response:
        requirements, context = entry.get("requirements"), entry["context"]
        return Response(
            desired=self._desired(entry["desired"], request.desired),
            results=tuple(typed(Result, result) for result in entry.get("results", ())),
            context=request.context if context is SAME else self._object(context),
            requirements=None if requirements is None else typed(Requirements, requirements),
            conditions=tuple(typed(Condition, condition) for condition in entry.get("conditions", ())),
            ttl=entry.get("ttl"),
            output=self._object(entry.get("output")),
        )

    # Effects

    def call(self, question: Any, answer: Any) -> tuple[Any, Any]:
        prepared = self._steps[question["step"]]
        request = self._request(question["request"], prepared)
        effect = effects.Call(prepared.step, request)
        if answer is None:
            self.calls.append(None)
            return effect, None
        self.calls.append(CallNote(answer.get("revision", ""), answer.get("cached", False)))
        self._response = response = self._answered(answer, request)
        return effect, response

    def fetch_resources(self, question: Any, answer: Any) -> tuple[Any, Any]:
        snapshots = None if answer is None else [self._snapshot(index) for index in answer]
        return effects.FetchResources(typed(ResourceSelector, question)), snapshots

    def fetch_schema(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.FetchSchema(typed(SchemaSelector, question)), self._object(answer)

    def fetch_secret(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.FetchSecret(*question), None if answer is None else self._details(answer)

    def fetch_object(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.FetchObject(typed(ObjectRef, question)), self._object(answer)

    def accept_request(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.AcceptRequest(self.xr, question), answer

    def select_composition(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.SelectComposition(self.xr), answer and Selected(*answer)

    def select_revision(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.SelectRevision(self.xr, question), answer and Selected(*answer)

    def fetch_composition(self, question: Any, answer: Any) -> tuple[Any, Any]:
        self._response = None
        if answer is not None:
            prepared = self._compositions.get(question)
            if prepared is None:
                prepared = self._compositions[question] = prepare(typed(Composition, answer))
            self._prepared = prepared
            self._steps = {step.step.name: step for step in prepared.steps}
            return effects.FetchComposition(question), prepared
        return effects.FetchComposition(question), None

    def count_owners(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.CountOwners(self.xr, question), answer

    def observe(self, question: Any, answer: Any) -> tuple[Any, Any]:
        assert self._prepared is not None
        effect = effects.Observe(self.xr, self._prepared)
        if answer is None:
            return effect, None
        snapshots = [Observed(self._snapshot(index), self._details(details)) for index, details in answer[0]]
        return effect, effects.Observation(snapshots, self._details(answer[1]))

    def record_events(self, question: Any, answer: Any) -> tuple[Any, Any]:
        events = tuple(typed(Event, event) for event in question[0])
        groups = tuple(tuple(typed(Event, event) for event in group) for group in question[1])
        return effects.RecordEvents(self.xr, events, groups), None

    def save_composite(self, question: Any, answer: Any) -> tuple[Any, Any]:
        effect = effects.SaveComposite(self.objects[question[0]], self.objects[question[1]])
        return effect, self._object(answer)

    def delete_composed(self, question: Any, answer: Any) -> tuple[Any, Any]:
        deletions = tuple(Deletion(name, self._snapshot(index), reason) for name, index, reason in question)
        return effects.DeleteComposed(deletions), None

    def apply_composed(self, question: Any, answer: Any) -> tuple[Any, Any]:
        composed = tuple(
            Composed(name, self.objects[index], ready, None if live is None else self._snapshot(live))
            for name, index, ready, live in question
        )
        effect = effects.ApplyComposed(self.xr, composed)
        if answer is None:
            return effect, None
        written = {name: self.objects[index] for name, index in answer[2].items()}
        return effect, effects.Applied(answer[0], answer[1], written)

    def publish_details(self, question: Any, answer: Any) -> tuple[Any, Any]:
        return effects.PublishDetails(self.xr, self._details(question)), answer

    def write_status(self, question: Any, answer: Any) -> tuple[Any, Any]:
        effect = effects.WriteStatus(self.objects[question[0]], self.objects[question[1]])
        return effect, self._object(answer)

    def diagnose(self, question: Any, answer: Any) -> tuple[Any, Any]:
        problem, composition, composed = question
        objects = [self.objects[index] for index in composed]
        effect = effects.Diagnose(self.xr, decode_problem(problem), composition, objects)
        if answer is None:
            return effect, None
        return effect, effects.Diagnosis(decode_problem(answer[0]), self.objects[answer[1]], answer[2])


def _about_kind(kind: Any) -> Callable[[_Decoding, Any, Any], tuple[Any, Any]]:
    return lambda decoding, question, answer: (kind(*question), answer)


def _about_xr(kind: Any) -> Callable[[_Decoding, Any, Any], tuple[Any, Any]]:
    return lambda decoding, question, answer: (kind(decoding.xr), None)


_DECODERS: dict[str, Callable[[_Decoding, Any, Any], tuple[Any, Any]]] = {
    "Call": _Decoding.call,
    "FetchResources": _Decoding.fetch_resources,
    "FetchSchema": _Decoding.fetch_schema,
    "FetchSecret": _Decoding.fetch_secret,
    "FetchObject": _Decoding.fetch_object,
    "IsNamespaced": _about_kind(effects.IsNamespaced),
    "FindScope": _about_kind(effects.FindScope),
    "AcceptRequest": _Decoding.accept_request,
    "SelectComposition": _Decoding.select_composition,
    "SelectRevision": _Decoding.select_revision,
    "FetchComposition": _Decoding.fetch_composition,
    "CountOwners": _Decoding.count_owners,
    "Observe": _Decoding.observe,
    "ServesWatchedRefs": lambda decoding, question, answer: (effects.ServesWatchedRefs(), answer),
    "RecordEvents": _Decoding.record_events,
    "SaveComposite": _Decoding.save_composite,
    "DeleteComposed": _Decoding.delete_composed,
    "ApplyComposed": _Decoding.apply_composed,
    "PublishDetails": _Decoding.publish_details,
    "WatchDependencies": _about_xr(effects.WatchDependencies),
    "WriteStatus": _Decoding.write_status,
    "RemoveFinalizer": _about_xr(effects.RemoveFinalizer),
    "Diagnose": _Decoding.diagnose,
}


def decode_problem(entry: Object) -> CrossplyError:
    """An error of the same class, or of the nearest that is known here, with the same fields."""
    cls = _error_class(entry["type"])
    problem = cls.__new__(cls)
    problem.args = (entry["message"],)
    vars(problem).update(entry["fields"])
    problem.code, problem.hint, problem.place = entry["code"], entry["hint"], entry["place"]
    return problem


def _error_class(name: str) -> type[CrossplyError]:
    import crossply.compose.errors
    import crossply.functions.failures
    import crossply.kube.failures  # noqa: F401 - known from here on

    pending: list[type[CrossplyError]] = [CrossplyError]
    while pending:
        cls = pending.pop()
        if f"{cls.__module__}.{cls.__qualname__}" == name:
            return cls
        pending += cls.__subclasses__()
    return CrossplyError
