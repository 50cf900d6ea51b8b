"""A recorded world as handlers of the engine's effects: each question gets the answer that it got then.

A question is known by what it asks. Asked again, it gets the answers in their order, and then the last one.
What was not asked then, because a Composition or function was changed since, is answered from the objects
that were recorded, and noted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.compose.effect_driver import Handlers
from crossply.compose.effects import (
    AcceptRequest,
    Call,
    CountOwners,
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    FindScope,
    IsNamespaced,
    Observe,
    SelectComposition,
    SelectRevision,
    ServesWatchedRefs,
)
from crossply.compose.function_messages import ResourceSelector
from crossply.compose.in_memory_cluster import InMemoryCluster, NotFound
from crossply.compose.selection import Selected
from crossply.runs.model import Exchange, World


class RecordedAnswers:
    """The answers to what a run reads."""

    __slots__ = ("_exchanges", "_objects", "_used", "notes")

    def __init__(self, world: World) -> None:
        self._exchanges: dict[object, list[Exchange]] = {}
        for exchange in world.exchanges:
            self._exchanges.setdefault(question_of(exchange.effect), []).append(exchange)
        self._used: dict[object, int] = {}
        self._objects = InMemoryCluster(_objects(world))
        self.notes: list[str] = []
        """What had to be answered that was not asked then."""

    def handlers(self) -> Handlers:
        answers: dict[type, Callable[[Any], Any]] = {
            AcceptRequest: lambda _: True,
            CountOwners: lambda _: 0,
            ServesWatchedRefs: lambda _: True,
            FetchResources: self._select,
            FetchSchema: self._no_schema,
            FetchSecret: self._no_secret,
            FetchObject: lambda fetch: self._objects.get(fetch.ref),
            IsNamespaced: self._assume_namespaced,
            FindScope: lambda _: None,
        }
        handlers = {kind: self._recorded_or(otherwise) for kind, otherwise in answers.items()}
        return {**handlers, SelectComposition: self._selected, SelectRevision: self._selected}

    def next(self, effect: Any) -> Exchange | None:
        """The next recorded exchange of a question; the last one again when there are no more."""
        question = question_of(effect)
        exchanges = self._exchanges.get(question)
        if not exchanges:
            return None
        used = self._used.get(question, 0)
        self._used[question] = used + 1
        return exchanges[min(used, len(exchanges) - 1)]

    def _selected(self, effect: SelectComposition | SelectRevision) -> Selected:
        """What was selected; in one more pipeline than then, the composite resource refers to it already."""
        question = question_of(effect)
        is_repeated = self._used.get(question, 0) >= len(self._exchanges.get(question, ()))
        exchange = self.next(effect)
        if exchange is None:
            return Selected("", changed=False)
        selected: Selected = recorded_answer(exchange)
        return selected._replace(changed=False) if is_repeated else selected

    def _recorded_or(self, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(effect: Any) -> Any:
            exchange = self.next(effect)
            return otherwise(effect) if exchange is None else recorded_answer(exchange)

        return answer

    def _select(self, fetch: FetchResources) -> Any:
        selected = self._objects.select(fetch.selector)
        self.notes.append(
            f"the run did not read {_described(fetch.selector)}; {len(selected)} of the recorded objects fit"
        )
        return selected

    def _no_schema(self, fetch: FetchSchema) -> None:
        self.notes.append(f"the run did not read the schema of {fetch.selector.kind}; it is left out")

    def _no_secret(self, fetch: FetchSecret) -> Any:
        raise NotFound(f'the run did not read secrets "{fetch.name}"')

    def _assume_namespaced(self, question: IsNamespaced) -> bool:
        self.notes.append(f"whether {question.kind} is namespaced was not recorded; it is taken to be")
        return True


def recorded_answer(exchange: Exchange) -> Any:
    """What the engine was sent; raises what was thrown into it."""
    if exchange.problem is not None:
        raise exchange.problem
    return exchange.answer


def question_of(effect: Any) -> object:
    """What identifies a question; equal for two effects that get the same answer in an unchanged world."""
    kind = type(effect)
    if kind in _ASK_BY_FIELDS:
        return kind, repr(effect)
    if kind is SelectRevision:
        return kind, effect.composition
    if kind is Call:
        return kind, effect.step.name
    return (kind,)


_ASK_BY_FIELDS = (FetchResources, FetchSchema, FetchSecret, FetchObject, IsNamespaced, FindScope)


def _objects(world: World) -> list[Any]:
    """Every object that the run read; of one that was read twice the later state."""
    objects = []
    for exchange in world.exchanges:
        if exchange.answer is None:
            continue
        if isinstance(exchange.effect, FetchResources):
            objects += [snapshot.object for snapshot in exchange.answer]
        elif isinstance(exchange.effect, FetchObject):
            objects.append(exchange.answer)
        elif isinstance(exchange.effect, Observe):
            objects += [observed.snapshot.object for observed in exchange.answer.resources]
    return objects


def _described(selector: ResourceSelector) -> str:
    if selector.match_name is not None:
        return f'{selector.kind} "{selector.match_name}"'
    labels = ", ".join(f"{key}={value}" for key, value in (selector.match_labels or {}).items())
    return f"{selector.kind} objects" + (f" with {labels}" if labels else "")
