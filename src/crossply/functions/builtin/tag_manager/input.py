"""What a step may say to tag-manager: the fields of `tag-manager.fn.crossplane.io/v1beta1`.

`addLabels` and `removeLabels` are ours: the same rules for `metadata.labels`, which every kind has.
"""

from __future__ import annotations

from crossply.compose.messages import Request
from crossply.functions.builtin.input_decoding import (
    OBJECT,
    InputError,
    array,
    decode,
    mapping,
    struct,
    text,
)
from crossply.values import Object

__all__ = ["InputError", "read_input"]

_SOURCE = {"type": text("v1beta1.TagManagerType"), "fromFieldPath": text()}
_POLICY = {"policy": text("v1beta1.TagManagerPolicy")}
_KEYS = {"keys": array("[]string", text(), "")}
_ADD = struct("v1beta1.AddTag", {**_SOURCE, **_POLICY, "tags": mapping("v1beta1.Tags", text(), "")})
_IGNORE = struct("v1beta1.IgnoreTag", {**_SOURCE, **_POLICY, **_KEYS})
_REMOVE = struct("v1beta1.RemoveTag", {**_SOURCE, **_KEYS})
_ADD_LABEL = struct("v1beta1.AddLabel", {**_SOURCE, **_POLICY, "labels": mapping("v1beta1.Tags", text(), "")})

_GO_TYPE = "v1beta1.ManagedTags"
_SHAPE = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "addTags": array("[]v1beta1.AddTag", _ADD, {}),
        "ignoreTags": array("[]v1beta1.IgnoreTag", _IGNORE, {}),
        "removeTags": array("[]v1beta1.RemoveTag", _REMOVE, {}),
        "addLabels": array("[]v1beta1.AddLabel", _ADD_LABEL, {}),
        "removeLabels": array("[]v1beta1.RemoveTag", _REMOVE, {}),
    },
)


def read_input(request: Request) -> Object:
    """The function's input; InputError says what is wrong with it."""
    return decode(request, _SHAPE, _GO_TYPE)
