"""GET of many objects: selected, in pages of one consistent snapshot, as stored where possible."""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import orjson

from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form, negotiate_for
from crossply.apiserver.endpoints.query_options import listed_version, signed_option
from crossply.apiserver.endpoints.replies import FACTORS, Reply, partial, reply
from crossply.apiserver.endpoints.status_errors import (
    Cause,
    bad_list_options,
    bad_request,
    expired,
    future_version,
)
from crossply.apiserver.object_codec import state_of
from crossply.apiserver.registry.conversion import convert
from crossply.apiserver.registry.selectors import (
    FieldClause,
    Requirement,
    fields_match,
    keys_match,
    labels_match,
    parse_fields,
    parse_labels,
)
from crossply.apiserver.server_context import World
from crossply.apiserver.slices import Slices
from crossply.apiserver.storage import Compacted, Entry
from crossply.apiserver.untold_kinds import untold, untold_bytes
from crossply.apiserver.weights import YAML_FACTOR
from crossply.schema.field_errors import FORBIDDEN, NOT_SUPPORTED
from crossply.values import Object
from crossply.values.gojson import JsonError
from crossply.values.gojson import loads as go_loads

_PER_CLAUSE = 64
"""What it weighs to hold a clause of a selector against an object."""
_TOKEN_VERSION = "meta.k8s.io/v1"
_NOT_BASE64 = re.compile("[^A-Za-z0-9_-]")
_OTHER_LIST = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and now "
    "may show up in the list."
)


async def list_objects(world: World, call: Call) -> Reply:
    """The selected objects."""
    form = negotiate_for(call)
    signed_option(call, "timeoutSeconds")
    page = _page(world, call)
    plain = form.is_plain and call.resource.is_stored_at(call.version.name)
    if plain and not _selects(call) and _is_fresh(page, call.resource.since):
        return Reply(200, _joined(call, page))
    if plain and _is_fresh(page, call.resource.since):
        selection = _selection(call)
        if selection.needs_objects:
            selected = await select(world, call, page)
            return Reply(200, _joined(call, replace(selected.page, entries=selected.entries)))
        page = _first_page(await _matching(world, selection, page), page, _limit(call))
        return Reply(200, _joined(call, page))
    return await reply_list(world, call, await select(world, call, page), form)


async def reply_list(world: World, call: Call, selected: Selected, form: Form) -> Reply:
    """An answer of many objects, in the shape the client wants."""
    if form.is_plain:
        return Reply(200, await _encoded_list(selected.as_list(call)))
    factor = FACTORS.get(form.media, YAML_FACTOR)
    weight = sum(len(entry.data) for entry in selected.entries) * factor
    return await world.background.run(weight, lambda: reply(200, shaped_list(call, selected, form), form))


async def _encoded_list(whole: Object) -> bytes:
    """A list as JSON, written item by item: a large one in one piece would hold up the others."""
    slices, items = Slices(), []
    for item in whole.pop("items"):
        items.append(orjson.dumps(item, option=orjson.OPT_SORT_KEYS))
        await slices.spend(len(items[-1]))
    return orjson.dumps(whole)[:-1] + b',"items":[' + b",".join(items) + b"]}\n"


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a list, and how to get the others."""

    entries: list[Entry]
    revision: int
    next: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Selected:
    """The objects of a page that the selectors choose, and the entries that they come from."""

    objects: list[Object]
    entries: list[Entry]
    page: Page

    def as_list(self, call: Call) -> Object:
        """The List object of the resource."""
        return {
            "apiVersion": call.resource.api_version(call.version.name),
            "kind": call.resource.names.list_kind,
            "metadata": list_metadata(self.page, whole=call.resource.custom),
            "items": self.objects if call.resource.custom else [untold(obj) for obj in self.objects],
        }


def list_metadata(page: Page, whole: bool = False) -> Object:
    """What a list says of itself; lists of custom objects also say that nothing follows."""
    metadata: Object = {"resourceVersion": str(page.revision)}
    if page.next or whole:
        metadata["continue"] = page.next
    if page.remaining:
        metadata["remainingItemCount"] = page.remaining
    return metadata


async def select(world: World, call: Call, page: Page | None = None) -> Selected:
    """The objects that the call's selectors choose, at the version of the call."""
    page = page or _page(world, call)
    selection = _selection(call)
    entries = await _matching(world, selection, page)
    slices, decoded = Slices(), []
    for entry in entries:
        decoded.append(decode(entry.data))
        await slices.spend(len(entry.data))
    objects = await convert(world, call.resource, decoded, call.version.name)
    if selection.fields:
        chosen = [fields_match(selection.fields, obj) for obj in objects]
        entries, objects = list(compress(entries, chosen)), list(compress(objects, chosen))
    if _selects(call):
        page = _first_page(entries, page, _limit(call))
    return Selected(objects[: len(page.entries)], page.entries, page)


class _Selection(NamedTuple):
    """What is selected, by what has to be known of an object to tell."""

    keys: tuple[FieldClause, ...]
    """Clauses about its name and namespace."""
    labels: tuple[Requirement, ...]
    fields: tuple[FieldClause, ...]
    """Clauses about the rest of it."""

    @property
    def needs_objects(self) -> bool:
        """Whether whole objects must be decoded."""
        return bool(self.fields)


def _selection(call: Call) -> _Selection:
    fields = parse_fields(call.query.get("fieldSelector", ""), call.version, custom=call.resource.custom)
    keys = tuple(clause for clause in fields if clause.is_about_key)
    rest = tuple(clause for clause in fields if not clause.is_about_key)
    return _Selection(keys, parse_labels(call.query.get("labelSelector", "")), rest)


async def _matching(world: World, selection: _Selection, page: Page) -> list[Entry]:
    """The entries that can be selected, by their keys and labels."""
    if not selection.keys and not selection.labels:
        return page.entries
    entries = _named(page.entries, selection.keys)
    slices, kept = Slices(), []
    cost = _PER_CLAUSE * (1 + len(selection.keys) + len(selection.labels))
    for entry in entries:
        if keys_match(selection.keys, entry.key) and (
            not selection.labels or labels_match(selection.labels, world.decoded.labels(state_of(entry)))
        ):
            kept.append(entry)
        await slices.spend(cost + (len(entry.data) if selection.labels else 0))
    return kept


def _named(entries: list[Entry], keys: tuple[FieldClause, ...]) -> list[Entry]:
    """The entries of one namespace that can have a name that is selected; they are in order."""
    name = next((clause.value for clause in keys if clause.path == "metadata.name" and clause.equal), None)
    if name is None or not entries or entries[0].key[1] != entries[-1].key[1]:
        return entries
    start = bisect_left(entries, name, key=lambda entry: entry.key[2])
    return entries[start : start + 1]


def _is_fresh(page: Page, since: int) -> bool:
    """Whether nothing of it was stored before its resource became what it is."""
    return not since or all(entry.revision >= since for entry in page.entries)


def _selects(call: Call) -> bool:
    return bool(call.query.get("labelSelector") or call.query.get("fieldSelector"))


def _first_page(entries: list[Entry], page: Page, limit: int) -> Page:
    """As many of the selected entries as asked for; how many remain is not known without looking at all."""
    if not limit or len(entries) <= limit:
        return replace(page, entries=entries)
    return Page(entries[:limit], page.revision, _token(page.revision, entries[limit - 1]))


def _page(world: World, call: Call) -> Page:
    # What is selected is not known before it is looked at, so a page of it is cut afterwards.
    limit = 0 if _selects(call) else _limit(call)
    token = call.query.get("continue", "")
    if token:
        if call.query.get("resourceVersion"):
            raise bad_request("specifying resource version is not allowed when using continue")
        return _next_page(world, call, token, limit)
    revision = _asked_revision(world, call)
    if revision is None:
        entries, revision = world.store.list(call.resource.key, call.namespace), world.store.revision
    else:
        entries = _entries_at(world, call, revision)
    return _cut(entries, revision, limit)


def _limit(call: Call) -> int:
    return max(signed_option(call, "limit") or 0, 0)


def _asked_revision(world: World, call: Call) -> int | None:
    """The exact revision to list at; None for the newest."""
    text, match = call.query.get("resourceVersion", ""), call.query.get("resourceVersionMatch", "")
    _check_match(call, text, match)
    revision = listed_version(call)
    if revision is None:
        return None
    if revision > world.store.revision:
        raise future_version(revision, world.store.revision)
    return revision if match == "Exact" or (match == "" and call.query.get("limit")) else None


def _check_match(call: Call, text: str, match: str) -> None:
    problem = ""
    if match and not text:
        problem = "resourceVersionMatch is forbidden unless resourceVersion is provided"
    elif match and call.query.get("continue"):
        problem = "resourceVersionMatch is forbidden for continue"
    elif match == "Exact" and text == "0":
        problem = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    if problem:
        raise bad_list_options(Cause(FORBIDDEN, f"Forbidden: {problem}", "resourceVersionMatch"))
    if match not in ("", "Exact", "NotOlderThan"):
        message = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        raise bad_list_options(Cause(NOT_SUPPORTED, message, "resourceVersionMatch"))
    if call.query.get("sendInitialEvents"):
        message = "Forbidden: sendInitialEvents is forbidden for list"
        raise bad_list_options(Cause(FORBIDDEN, message, "sendInitialEvents"))


def _entries_at(world: World, call: Call, revision: int) -> list[Entry]:
    try:
        return world.store.list_at(call.resource.key, call.namespace, revision)
    except Compacted:
        raise expired(
            "The resourceVersion for the provided list is too old."
            if not call.query.get("continue")
            else _OTHER_LIST
        ) from None


def _cut(entries: list[Entry], revision: int, limit: int, start: int = 0) -> Page:
    if not limit or len(entries) - start <= limit:
        return Page(entries[start:] if start else entries, revision)
    page = entries[start : start + limit]
    return Page(page, revision, _token(revision, page[-1]), len(entries) - start - limit)


def _token(revision: int, last: Entry) -> str:
    """Where the next page begins: behind this entry, in this snapshot."""
    told = {"v": _TOKEN_VERSION, "rv": revision, "start": f"{last.key[1]}/{last.key[2]}\x00"}
    return base64.urlsafe_b64encode(orjson.dumps(told)).rstrip(b"=").decode()


def _next_page(world: World, call: Call, token: str, limit: int) -> Page:
    revision, start = _read_token(token)
    if revision < 0:
        revision, entries = world.store.revision, world.store.list(call.resource.key, call.namespace)
    else:
        entries = _continued(world, call, revision, start)
    after = [index for index, entry in enumerate(entries) if f"{entry.key[1]}/{entry.key[2]}\x00" > start]
    return _cut(entries, revision, limit, after[0]) if after else Page([], revision)


def _continued(world: World, call: Call, revision: int, start: str) -> list[Entry]:
    try:
        return world.store.list_at(call.resource.key, call.namespace, revision)
    except Compacted:
        problem = expired(_OTHER_LIST)
        told = {"v": _TOKEN_VERSION, "rv": -1, "start": start}
        again = base64.urlsafe_b64encode(orjson.dumps(told)).rstrip(b"=").decode()
        problem.list_metadata = {"continue": again}
        raise problem from None


def _read_token(token: str) -> tuple[int, str]:
    """The revision and the beginning that a token tells, or what is wrong with it."""
    why = ""
    try:
        told = go_loads(_unpacked(token))
        if not isinstance(told, dict) or told.get("v") != _TOKEN_VERSION:
            why = f"server does not recognize this encoded version {told.get('v', '')}"
        elif not told.get("rv"):
            why = f"incorrect encoded start resourceVersion (version {_TOKEN_VERSION})"
        elif not told.get("start"):
            why = f"continue key is empty (version {_TOKEN_VERSION})"
        else:
            return int(told["rv"]), str(told["start"])
    except (JsonError, _Garbled) as problem:
        why = str(problem)
    except (ValueError, TypeError, AttributeError):
        why = "incorrect encoding"
    raise bad_request(f"invalid continue token: continue key is not valid: {why}")


class _Garbled(Exception):
    """A token holds bytes that no token has."""


def _unpacked(token: str) -> str:
    wrong = _NOT_BASE64.search(token)
    if wrong is not None:
        raise _Garbled(f"illegal base64 data at input byte {wrong.start()}")
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except binascii.Error:
        raise _Garbled(f"illegal base64 data at input byte {len(token) - 1}") from None
    if raw[:1] > b"\x7f":
        # Go tells of bytes, not of characters.
        shown = chr(raw[0]) if chr(raw[0]).isprintable() else f"\\u{raw[0]:04x}"
        raise _Garbled(f"invalid character '{shown}' looking for beginning of value")
    return raw.decode("latin-1")


def _joined(call: Call, page: Page) -> bytes:
    """A list made of stored bytes, without reading them."""
    head = {
        "apiVersion": call.resource.api_version(call.version.name),
        "kind": call.resource.names.list_kind,
        "metadata": list_metadata(page, whole=call.resource.custom),
    }
    pieces = [entry.data for entry in page.entries]
    if not call.resource.custom:
        version = call.resource.api_version(call.version.name)
        pieces = untold_bytes(pieces, version, call.resource.names.kind)
    items = b",".join(pieces)
    return orjson.dumps(head)[:-1] + b',"items":[' + items + b"]}\n"


def shaped_list(call: Call, selected: Selected, form: Form) -> Object:
    """A list in the shape the client wants."""
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
