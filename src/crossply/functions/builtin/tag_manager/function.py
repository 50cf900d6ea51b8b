"""function-tag-manager as its makers publish it: add tags, keep those that others set, remove tags.

Labels are our addition: they are set on every composed resource, by the same rules.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import (
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
from crossply.functions.builtin.tag_manager.taggable_kinds import has_tags, is_ignored, schemas_wanted
from crossply.values import Object

_DONE = Result(SEVERITY_NORMAL, "Successfully Processed tags", None, TARGET_COMPOSITE)
_TAGS = ("spec", "forProvider", "tags")
_LABELS = ("metadata", "labels")


def run(request: Request) -> Response:
    """Set the tags and labels of the desired resources."""
    try:
        given = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    manager = _Manager(request, given)
    changed = {name: manager.managed(name, each) for name, each in request.desired.resources.items()}
    return respond(
        request,
        desired=State(request.desired.composite, changed),
        requirements=schemas_wanted(request),
        results=(_DONE,),
    )


class _Manager:
    """The tags and labels that one step sets."""

    def __init__(self, request: Request, given: Object) -> None:
        sources = Sources(request)
        self._request = request
        self._sources = sources
        self._ignored: list[Object] = given.get("ignoreTags", [])
        self._tags = sources.tags(given.get("addTags", []), "tags")
        self._removed_tags = sources.names(given.get("removeTags", []))
        self._labels = sources.tags(given.get("addLabels", []), "labels")
        self._removed_labels = sources.names(given.get("removeLabels", []))

    def managed(self, name: str, resource: Resource) -> Resource:
        """A desired resource with its tags and labels set."""
        obj = resource.object
        if is_ignored(obj):
            return resource
        changed = _changed(obj, _LABELS, [self._labels], self._removed_labels)
        if has_tags(obj, self._request):
            layers = [self._tags, self._observed_tags(name)]
            changed = _changed(changed, _TAGS, layers, self._removed_tags)
        return resource if changed is obj else Resource(changed, resource.connection_details, resource.ready)

    def _observed_tags(self, name: str) -> Tags:
        observed = self._request.observed.resources.get(name)
        return (
            Tags({}, {}) if observed is None else self._sources.observed_tags(self._ignored, observed.object)
        )


def _changed(obj: Object, place: tuple[str, ...], layers: list[Tags], removed: list[str]) -> Object:
    present: Any = obj
    for step in place:
        present = present.get(step) if isinstance(present, dict) else None
    before: Object = present if isinstance(present, dict) else {}
    tags = before
    for layer in layers:
        tags = layer.over(tags)
    tags = {name: value for name, value in tags.items() if name not in removed}
    return obj if tags == before else _with(obj, place, tags)


def _with(obj: Object, place: tuple[str, ...], value: Any) -> Object:
    """A copy of an object with a field set; what is in the way and is no object is replaced."""
    step, *rest = place
    if not rest:
        return {**obj, step: value}
    inner = obj.get(step)
    return {**obj, step: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


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
