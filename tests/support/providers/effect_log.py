"""What a provider did, in the order in which it did it: one log for a scenario, which is a namespace."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from crossply.values import Object


@dataclass
class EffectLog:
    """The effects on each managed resource in one order: calls of the external system, writes to the API."""

    effects: dict[str, list[Object]] = field(default_factory=dict)
    """By "Kind/name" of the managed resource, or "ProviderConfig/name"."""
    events: dict[str, list[Object]] = field(default_factory=dict)
    _recorded: list[tuple[str, Object]] = field(default_factory=list)

    def call(self, resource: str, name: str, outcome: str) -> None:
        self.write(resource, {"call": name, "outcome": outcome})

    def write(self, resource: str, entry: Object) -> None:
        """A write that changed something."""
        self.effects.setdefault(resource, []).append(entry)

    def event(self, resource: str, entry: Object) -> None:
        """An event. How often one is repeated, and whether a cache is stale, depends on time."""
        if (resource, entry) in self._recorded or "the object has been modified" in entry["message"]:
            return
        self._recorded.append((resource, entry))
        self.events.setdefault(resource, []).append(entry)

    def summary(self) -> Object:
        """Everything since the log was cleared, without repetitions."""
        effects = {resource: without_repetitions(entries) for resource, entries in self.effects.items()}
        return {"effects": effects, "events": {key: list(value) for key, value in self.events.items()}}

    def clear(self) -> None:
        self.effects, self.events = {}, {}


_FINALIZERS = "metadata.finalizers"
_CREATION = {f"metadata.annotations.crossplane.io/external-create-{end}" for end in ("pending", "failed")}


def without_repetitions(entries: list[Object]) -> list[Object]:
    """Effects without those that depend on time.

    A reconcile may come once more at any time, so an observation is listed once until something else is
    called, and rounds of calls that repeat the round before are left out. A time changes only with the
    second.
    """
    distinct: list[Object] = []
    for entry in entries:
        last_call = next((effect for effect in reversed(distinct) if "call" in effect), None)
        if entry.get("call") == "observe" and entry == last_call:
            continue
        if set(entry.get("changes", ())) <= _CREATION and "write" in entry and entry in distinct:
            continue
        if distinct and set(entry.get("changes", ())) == set(distinct[-1].get("changes", ())) == {
            "status.users"
        }:
            distinct.pop()  # users may be counted one by one, or together
        if _continues(distinct, entry):
            distinct[-1]["changes"] |= entry["changes"]
            continue
        distinct.append(copy.deepcopy(entry))
        if distinct[-2:] == distinct[-4:-2] and all("call" in effect for effect in distinct[-2:]):
            del distinct[-2:]
    return distinct


def comparable_effects(entries: list[Object]) -> list[Object]:
    """Effects in a form that ignores differences without a visible result.

    It may add its finalizer together with something else before it creates, and may create the connection
    Secret before the first details or with them. It may observe once more after the phase before.
    """
    comparable: list[Object] = []
    is_protected = False
    for entry in entries:
        changes = entry.get("changes") or {}
        if "refused" in entry:
            entry = {"refused": entry["refused"]}
        elif str(entry.get("write", "")).endswith(" secrets"):
            data = {key: value for key, value in changes.items() if key.startswith("data.")}
            entry = {"write": "secrets", "changes": data}
        elif changes.get(_FINALIZERS):
            is_protected = True
            entry = {**entry, "changes": {key: changes[key] for key in changes if key != _FINALIZERS}}
        elif entry.get("call") == "create":
            entry = {**entry, "protected": is_protected}
        if entry.get("changes") != {} and (comparable or entry.get("call") != "observe"):
            comparable.append(entry)
    return without_repetitions(comparable)


def _continues(earlier: list[Object], entry: Object) -> bool:
    """Whether a write of the status goes on with the one before it: a status may be written in parts."""
    last = earlier[-1] if earlier else {}
    is_status = str(entry.get("write", "")).endswith("/status") and last.get("write") == entry["write"]
    return is_status and not set(last["changes"]) & set(entry["changes"])


@dataclass
class Faults:
    """What goes wrong, each the first so many times that it is met."""

    rules: list[tuple[Callable[[str], bool], list[str]]] = field(default_factory=list)

    def add(self, matches: Callable[[str], bool], *actions: str) -> None:
        """The actions happen one after another, each once."""
        self.rules.append((matches, list(actions)))

    def next_action(self, effect: str) -> str:
        """What shall go wrong now, or ""."""
        for matches, actions in self.rules:
            if actions and matches(effect):
                return actions.pop(0)
        return ""

    def is_empty(self) -> bool:
        return not any(actions for _, actions in self.rules)
