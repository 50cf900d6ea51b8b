"""The input of sequencer: `sequencer.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import SECOND, Request
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    boolean,
    decode,
    struct,
    text,
)
from crossply.values.durations import parse_duration

__all__ = ["Input", "InputError", "Rule", "TtlError", "read_input"]

_MINUTE = 60 * SECOND
_RULE = struct(
    "v1beta1.SequencingRule",
    {
        "sequence": array("[]resource.Name", text("resource.Name"), ""),
        "condition": text(),
        "createOnly": boolean,
        "deleteOnly": boolean,
    },
)
_GO_TYPE = "v1beta1.Input"
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "rules": array("[]v1beta1.SequencingRule", _RULE, {}),
        "resetCompositeReadiness": boolean,
        "enableDeletionSequencing": boolean,
        "replayDeletion": boolean,
        "usageVersion": text("v1beta1.UsageVersion"),
        "cacheTTL": text(),
    },
)


class Rule(NamedTuple):
    """Names of resources, or patterns, in the order of their creation."""

    sequence: list[str]
    condition: str
    creates: bool
    """Whether the rule orders creation."""
    deletes: bool
    """Whether the rule orders deletion."""


class Input(NamedTuple):
    """The decoded input of a step."""

    rules: list[Rule]
    resets_readiness: bool
    replays_deletion: bool
    usage_version: str
    ttl: int


def read_input(request: Request) -> Input:
    decoded = decode(request, _INPUT, _GO_TYPE)
    deletes = decoded.get("enableDeletionSequencing", False)
    return Input(
        [_rule(rule, deletes) for rule in decoded.get("rules", ())],
        decoded.get("resetCompositeReadiness", False),
        decoded.get("replayDeletion", False),
        decoded.get("usageVersion", ""),
        _ttl(decoded.get("cacheTTL", "")),
    )


def _rule(decoded: dict[str, object], deletes: bool) -> Rule:
    create_only, delete_only = bool(decoded.get("createOnly")), bool(decoded.get("deleteOnly"))
    if create_only and delete_only:
        raise InputError("createOnly and deleteOnly exclude each other in a rule")
    sequence = decoded.get("sequence", [])
    assert isinstance(sequence, list)
    return Rule(sequence, str(decoded.get("condition", "")), not delete_only, deletes and not create_only)


def _ttl(duration: str) -> int:
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise TtlError(f"cannot set cacheTTL: {error}") from None


class TtlError(Exception):
    """The time to live is no duration. It never leaves the function: it becomes a fatal result."""
