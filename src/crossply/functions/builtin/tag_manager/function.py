"""function-tag-manager: add tags, retain tags that others set, remove tags.

The input is `tag-manager.fn.crossplane.io/v1beta1`. `addLabels` and `removeLabels` are an addition of ours:
the same rules for `metadata.labels`, which every kind has.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crossply.compose.function_messages import (
    SEVERITY_NORMAL,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    decode,
    mapping,
    struct,
    text,
)
from crossply.functions.builtin.tag_manager.tag_sources import Sources, Tags
from crossply.functions.builtin.tag_manager.taggable_kinds import has_tags, is_ignored, required_schemas
from crossply.functions.reply_limits import Meter
from crossply.values import Object

_SUCCESS_RESULT = Result(SEVERITY_NORMAL, "Successfully Processed tags", None, TARGET_COMPOSITE)
_TAGS = ("spec", "forProvider", "tags")
_LABELS = ("metadata", "labels")


def run(request: Request) -> Response:
    try:
        decoded = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    manager = _TagManager(request, decoded)
    changed = {
        name: manager.with_tags_and_labels(name, resource)
        for name, resource in request.desired.resources.items()
    }
    return respond(
        request,
        desired=State(request.desired.composite, changed),
        requirements=required_schemas(request),
        results=(_SUCCESS_RESULT,),
    )


class _TagManager:
    """The tags and labels that one step sets."""

    def __init__(self, request: Request, decoded: Object) -> None:
        sources = Sources(request)
        self._request = request
        self._sources = sources
        self._ignored: list[Object] = decoded.get("ignoreTags", [])
        self._tags = sources.tags(decoded.get("addTags", []), "tags")
        self._removed_tags = frozenset(sources.names(decoded.get("removeTags", [])))
        self._labels = sources.tags(decoded.get("addLabels", []), "labels")
        self._removed_labels = frozenset(sources.names(decoded.get("removeLabels", [])))
        self._meter = Meter()
        self._tags_size, self._labels_size = self._tags.size, self._labels.size

    def with_tags_and_labels(self, name: str, resource: Resource) -> Resource:
        obj = resource.object
        if is_ignored(obj):
            return resource
        self._meter.add(self._labels_size)
        changed = _merge_at(obj, _LABELS, [self._labels], self._removed_labels)
        if has_tags(obj, self._request):
            self._meter.add(self._tags_size)
            layers = [self._tags, self._observed_tags(name)]
            changed = _merge_at(changed, _TAGS, layers, self._removed_tags)
            if _value_at(changed, _TAGS) is None:
                changed = _with(
                    changed, _TAGS, None
                )  # as the published function leaves a resource without tags
        return resource if changed is obj else Resource(changed, resource.connection_details, resource.ready)

    def _observed_tags(self, name: str) -> Tags:
        observed = self._request.observed.resources.get(name)
        return (
            Tags({}, {}) if observed is None else self._sources.observed_tags(self._ignored, observed.object)
        )


def _merge_at(obj: Object, path: tuple[str, ...], layers: list[Tags], removed: Collection[str]) -> Object:
    present = _value_at(obj, path)
    before: Object = present if isinstance(present, dict) else {}
    merged = before
    for layer in layers:
        merged = layer.over(merged)
    tags = {name: value for name, value in merged.items() if name not in removed}
    return obj if tags == before == merged else _with(obj, path, tags)


def _value_at(obj: Object, path: tuple[str, ...]) -> Any:
    value: Any = obj
    for field in path:
        value = value.get(field) if isinstance(value, dict) else None
    return value


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    """A copy of an object with a field set; parents that are no objects are replaced."""
    field, *rest = path
    if not rest:
        return {**obj, field: value}
    inner = obj.get(field)
    return {**obj, field: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


__all__ = ["InputError", "read_input"]

_SOURCE = {"type": text("v1beta1.TagManagerType"), "fromFieldPath": text()}
_POLICY = {"policy": text("v1beta1.TagManagerPolicy")}
_KEYS = {"keys": array("[]string", text(), "")}
_ADD = struct("v1beta1.AddTag", {**_SOURCE, **_POLICY, "tags": mapping("v1beta1.Tags", text(), "")})
_IGNORE = struct("v1beta1.IgnoreTag", {**_SOURCE, **_POLICY, **_KEYS})
_REMOVE = struct("v1beta1.RemoveTag", {**_SOURCE, **_KEYS})
_ADD_LABEL = struct("v1beta1.AddLabel", {**_SOURCE, **_POLICY, "labels": mapping("v1beta1.Tags", text(), "")})

_GO_TYPE = "v1beta1.ManagedTags"
_INPUT = struct(
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
    return decode(request, _INPUT, _GO_TYPE)
