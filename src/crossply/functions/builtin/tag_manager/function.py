"""function-tag-manager: add tags, retain tags that others set, remove tags.

The input is `tag-manager.fn.crossplane.io/v1beta1`. `addLabels` and `removeLabels` are an addition of ours:
the same rules for `metadata.labels`, which every kind has. Tags and their
names come from the input itself, from a field of the XR, or from the environment.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

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
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    decode,
    mapping,
    struct,
    text,
)
from crossply.functions.builtin.tag_manager.taggable_kinds import has_tags, is_ignored, required_schemas
from crossply.functions.reply_limits import Meter, size_of
from crossply.values import Object
from crossply.values.field_path_read import get
from crossply.values.field_path_syntax import PathError

_SUCCESS_RESULT = Result(SEVERITY_NORMAL, "Successfully Processed tags", None, TARGET_COMPOSITE)
_TAGS = ("spec", "forProvider", "tags")
_LABELS = ("metadata", "labels")
_RETAIN = "Retain"
"""The policy that retains an existing tag; all others replace it."""


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


class Tags(NamedTuple):
    """Tags to set: those that replace existing tags, and those that do not."""

    replace: dict[str, str]
    retain: dict[str, str]

    @property
    def size(self) -> int:
        """How many bytes they add to a resource."""
        return size_of(self.replace) + size_of(self.retain)

    def over(self, present: Object) -> Object:
        """Merge these tags into the present ones."""
        return {**self.retain, **present, **self.replace}


class Sources:
    """Resolves the entries of an input."""

    __slots__ = ("_places",)

    def __init__(self, request: Request) -> None:
        composite = request.observed.composite
        self._places = {
            "FromCompositeFieldPath": composite.object if composite is not None else {},
            "FromEnvironmentFieldPath": (request.context or {}).get(CONTEXT_KEY),
        }

    def tags(self, entries: list[Object], member: str) -> Tags:
        """The tags that entries add; the first entry of a tag wins."""
        collected = Tags({}, {})
        for entry in entries:
            _fill(collected, entry, _texts(self._value(entry, member)))
        return collected

    def observed_tags(self, entries: list[Object], observed: Object) -> Tags:
        """The tags of an observed resource that entries name."""
        present = _texts(_get(observed, "status.atProvider.tags"))
        collected = Tags({}, {})
        for entry in entries:
            keys = _names(self._value(entry, "keys"))
            _fill(collected, entry, {key: present[key] for key in keys if key in present})
        return collected

    def names(self, entries: list[Object]) -> list[str]:
        return [name for entry in entries for name in _names(self._value(entry, "keys"))]

    def _value(self, entry: Object, member: str) -> Any:
        kind = entry.get("type") or "FromValue"
        if kind == "FromValue":
            return entry.get(member)
        return _get(self._places.get(kind), entry.get("fromFieldPath", ""))


def _fill(collected: Tags, entry: Object, tags: dict[str, str]) -> None:
    target = collected.retain if entry.get("policy") == _RETAIN else collected.replace
    for name, value in tags.items():
        target.setdefault(name, value)


def _get(value: Any, path: str) -> Any:
    """The value at a path, or None: a missing field means no tags, as in the published function."""
    try:
        return get(value, path)
    except PathError:
        return None


def _texts(value: Any) -> dict[str, str]:
    """The tags, or none if any of them is no string."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return {}
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return []
    return value


__all__ = ["InputError", "read_input"]
