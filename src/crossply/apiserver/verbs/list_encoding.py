"""Lists as responses: from stored bytes where possible, else from objects in the form of the client.

The items of a list of a built-in kind have neither apiVersion nor kind: the list has them for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form
from crossply.apiserver.endpoints.replies import partial
from crossply.apiserver.event_loop_offloading import Slices
from crossply.apiserver.storage import Entry
from crossply.apiserver.stored_object_codec import decode, encode
from crossply.values import Object

_TYPE_FIELDS = frozenset({"apiVersion", "kind"})
_ANY_DATA = frozenset({"ControllerRevision"})
"""Kinds that contain other objects before their own kind."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list, and the token of the next."""

    entries: list[Entry]
    revision: int
    next: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Selected:
    """The selected objects of a page, and their entries."""

    objects: list[Object]
    entries: list[Entry]
    page: Page

    def as_list(self, call: Call) -> Object:
        """The List object of the resource."""
        return {
            "apiVersion": call.resource.api_version(call.version.name),
            "kind": call.resource.names.list_kind,
            "metadata": list_metadata(self.page, always_has_continue=call.resource.custom),
            "items": self.objects if call.resource.custom else [without_type(obj) for obj in self.objects],
        }


def list_metadata(page: Page, always_has_continue: bool = False) -> Object:
    """The metadata of a list; that of custom objects has an empty `continue` on its last page."""
    metadata: Object = {"resourceVersion": str(page.revision)}
    if page.next or always_has_continue:
        metadata["continue"] = page.next
    if page.remaining:
        metadata["remainingItemCount"] = page.remaining
    return metadata


async def encode_list(body: Object) -> bytes:
    """A list as JSON, encoded item by item: encoding a large one at once would block the event loop."""
    slices, items = Slices(), []
    for item in body.pop("items"):
        items.append(orjson.dumps(item, option=orjson.OPT_SORT_KEYS))
        await slices.spend(len(items[-1]))
    return orjson.dumps(body)[:-1] + b',"items":[' + b",".join(items) + b"]}\n"


def join_stored(call: Call, page: Page) -> bytes:
    """A list made of stored bytes, without decoding them."""
    head = {
        "apiVersion": call.resource.api_version(call.version.name),
        "kind": call.resource.names.list_kind,
        "metadata": list_metadata(page, always_has_continue=call.resource.custom),
    }
    pieces = [entry.data for entry in page.entries]
    if not call.resource.custom:
        version = call.resource.api_version(call.version.name)
        pieces = without_type_of_stored(pieces, version, call.resource.names.kind)
    items = b",".join(pieces)
    return orjson.dumps(head)[:-1] + b',"items":[' + items + b"]}\n"


def shaped_list(call: Call, selected: Selected, form: Form) -> Object:
    """A list in the shape that the client accepts."""
    if form.shape == "object":
        return selected.as_list(call)
    metadata = list_metadata(selected.page)
    if form.shape == "partial":
        items = [partial(obj, form.meta_version) for obj in selected.objects]
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": f"meta.k8s.io/{form.meta_version}",
            "metadata": metadata,
            "items": items,
        }
    from crossply.apiserver.tables.table import to_table

    return to_table(
        call.resource, call.version, selected.objects, call.query.get("includeObject", ""), metadata
    )


def without_type(obj: Object) -> Object:
    """An object without apiVersion and kind."""
    return {key: value for key, value in obj.items() if key not in _TYPE_FIELDS}


def without_type_of_stored(stored: list[bytes], api_version: str, kind: str) -> list[bytes]:
    """Stored objects of one kind without apiVersion and kind.

    The two fields are cut out where they stand: keys are sorted, so nothing but plain texts comes before
    them in nearly every kind.
    """
    if kind in _ANY_DATA:
        return [_decoded(data) for data in stored]
    version = f'{{"apiVersion":"{api_version}",'.encode()
    middle = f'"kind":"{kind}",'.encode()
    mark = middle + b'"metadata":{'
    return [_cut(data, version, middle, mark) for data in stored]


def _cut(data: bytes, version: bytes, middle: bytes, mark: bytes) -> bytes:
    at = data.find(mark) if data.startswith(version) else -1
    if at < 0:
        return _decoded(data)
    return b"{" + data[len(version) : at] + data[at + len(middle) :]


def _decoded(data: bytes) -> bytes:
    return encode(without_type(decode(data)))
