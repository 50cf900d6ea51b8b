"""What a step may say to sequencer: the fields of `sequencer.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.messages import SECOND, Request
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

__all__ = ["Input", "InputError", "Rule", "read_input"]

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
_SHAPE = struct(
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
    """Names of resources, or patterns of them, in the order in which they may be created."""

    sequence: list[str]
    condition: str
    creates: bool
    """Whether creation waits."""
    deletes: bool
    """Whether deletion waits, too."""


class Input(NamedTuple):
    """A step's input, read."""

    rules: list[Rule]
    resets_readiness: bool
    replays_deletion: bool
    usage_version: str
    ttl: int


def read_input(request: Request) -> Input:
    """The function's input; InputError says what is wrong with it."""
    given = decode(request, _SHAPE, _GO_TYPE)
    deletes = given.get("enableDeletionSequencing", False)
    return Input(
        [_rule(each, deletes) for each in given.get("rules", ())],
        given.get("resetCompositeReadiness", False),
        given.get("replayDeletion", False),
        given.get("usageVersion", ""),
        _ttl(given.get("cacheTTL", "")),
    )


def _rule(given: dict[str, object], deletes: bool) -> Rule:
    create_only, delete_only = bool(given.get("createOnly")), bool(given.get("deleteOnly"))
    if create_only and delete_only:
        raise InputError("createOnly and deleteOnly exclude each other in a rule")
    sequence = given.get("sequence", [])
    assert isinstance(sequence, list)
    return Rule(sequence, str(given.get("condition", "")), not delete_only, deletes and not create_only)


def _ttl(duration: str) -> int:
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"cannot set cacheTTL: {error}") from None
