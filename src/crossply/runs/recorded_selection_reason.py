"""Why a run used this Composition and this revision of it."""

from __future__ import annotations

from crossply.compose import effects
from crossply.compose.selection import match_labels
from crossply.runs.model import World
from crossply.values import Object


def explain_selection(world: World) -> str:
    """Why this Composition and this revision, in one sentence; empty where none was selected."""
    sentence = ""
    for exchange in world.exchanges:
        effect, selected = exchange.effect, exchange.answer
        if isinstance(effect, effects.SelectComposition) and selected is not None:
            sentence = f"Composition {selected.name}: {_composition_reason(world, effect.xr)}"
        elif isinstance(effect, effects.SelectRevision) and selected is not None:
            reason = _revision_reason(world, effect.xr)
            return f"{sentence}; revision {selected.name}: {reason}"
    return sentence


def _composition_reason(world: World, xr: Object) -> str:
    definition, machinery = world.definition, world.machinery
    if definition is not None and definition.enforced_composition:
        return "the definition enforces it"
    if machinery.name_in(xr, "compositionRef"):
        return "the composite resource refers to it"
    labels = match_labels(machinery.read(xr, "compositionSelector"))
    if definition is not None and definition.default_composition and not labels:
        return "it is the definition's default"
    return f"selected by the labels {_labels(labels)}" if labels else "it is for this kind"


def _revision_reason(world: World, xr: Object) -> str:
    machinery = world.machinery
    policy = machinery.read(xr, "compositionUpdatePolicy")
    if policy is None and world.definition is not None:
        policy = world.definition.default_update_policy
    if policy == "Manual":
        pinned = machinery.name_in(xr, "compositionRevisionRef")
        return "pinned by compositionUpdatePolicy Manual" if pinned else "the newest; now pinned (Manual)"
    labels = match_labels(machinery.read(xr, "compositionRevisionSelector"))
    return f"the newest with the labels {_labels(labels)}" if labels else "the newest"


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
