"""GET of many objects: selected, in pages of one consistent snapshot, as stored where possible."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import orjson

from crossply.apiserver.calls import Call
from crossply.apiserver.conversion import convert
from crossply.apiserver.negotiation import Form, negotiate_for
from crossply.apiserver.objects import decode
from crossply.apiserver.replies import Reply, partial, reply
from crossply.apiserver.selectors import fields_match, labels_match, parse_fields, parse_labels
from crossply.apiserver.status import StatusError, bad_request, expired
from crossply.apiserver.storage import Compacted, Entry
from crossply.apiserver.world import World
from crossply.values import Object
from crossply.values.gojson import JsonError
from crossply.values.gojson import loads as go_loads

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
    page = _page(world, call)
    plain = form.is_plain and call.resource.is_stored_at(call.version.name)
    if plain and not call.query.get("labelSelector") and not call.query.get("fieldSelector"):
        return Reply(200, _joined(call, page))
    selected = await select(world, call, page)
    return reply(200, _shaped(call, selected, form), form)


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a list, and how to get the others."""

    entries: list[Entry]
    revision: int
    next: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Selected:
    """The objects of a page that the selectors choose."""

    objects: list[Object]
    page: Page

    def as_list(self, call: Call) -> Object:
        """The List object of the resource."""
        return {
            "apiVersion": call.resource.api_version(call.version.name),
            "kind": call.resource.names.list_kind,
            "metadata": list_metadata(self.page),
            "items": self.objects,
        }


def list_metadata(page: Page) -> Object:
    """What a list says of itself."""
    metadata: Object = {"resourceVersion": str(page.revision), "continue": page.next}
    if page.remaining:
        metadata["remainingItemCount"] = page.remaining
    return metadata


async def select(world: World, call: Call, page: Page | None = None) -> Selected:
    """The objects that the call's selectors choose, at the version of the call."""
    page = page or _page(world, call)
    labels = parse_labels(call.query.get("labelSelector", ""))
    fields = parse_fields(call.query.get("fieldSelector", ""), call.version, call.resource.key)
    objects = [decode(entry.data) for entry in page.entries]
    if labels:
        objects = [obj for obj in objects if labels_match(labels, obj["metadata"].get("labels") or {})]
    objects = await convert(world, call.resource, objects, call.version.name)
    if fields:
        objects = [obj for obj in objects if fields_match(fields, obj)]
    return Selected(objects, page)


def _page(world: World, call: Call) -> Page:
    limit = _limit(call)
    token = call.query.get("continue", "")
    if token:
        return _next_page(world, call, token, limit)
    revision = _asked_revision(world, call)
    if revision is None:
        entries, revision = world.store.list(call.resource.key, call.namespace), world.store.revision
    else:
        entries = _entries_at(world, call, revision)
    return _cut(entries, revision, limit)


def _limit(call: Call) -> int:
    text = call.query.get("limit", "") or "0"
    try:
        return max(int(text), 0)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def _asked_revision(world: World, call: Call) -> int | None:
    """The exact revision to list at; None for the newest."""
    text, match = call.query.get("resourceVersion", ""), call.query.get("resourceVersionMatch", "")
    _check_match(call, text, match)
    if text in ("", "0"):
        return None
    try:
        revision = int(text)
    except ValueError:
        raise _invalid_revision(text) from None
    if revision > world.store.revision:
        raise StatusError(
            504, "Timeout", f"Too large resource version: {revision}, current: {world.store.revision}"
        )
    return revision if match == "Exact" or (match == "" and call.query.get("limit")) else None


def _check_match(call: Call, text: str, match: str) -> None:
    problem = ""
    if match and match not in ("Exact", "NotOlderThan"):
        problem = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan"'
    elif match and not text:
        problem = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
    elif match == "Exact" and text == "0":
        problem = 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    elif match and call.query.get("continue"):
        problem = "Forbidden: resourceVersionMatch is forbidden for continue"
    if problem:
        message = f'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: {problem}'
        raise StatusError(422, "Invalid", message)


def _invalid_revision(text: str) -> StatusError:
    problem = f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
    return bad_request(f"invalid resource version: resourceVersion: {problem}")


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
    told = {"v": "meta.k8s.io/v1", "rv": revision, "start": f"{last.key[1]}/{last.key[2]}\x00"}
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
        told = {"v": "meta.k8s.io/v1", "rv": -1, "start": start}
        again = base64.urlsafe_b64encode(orjson.dumps(told)).rstrip(b"=").decode()
        problem.list_metadata = {"continue": again}
        raise problem from None


def _read_token(token: str) -> tuple[int, str]:
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        told = go_loads(raw.decode("latin-1"))
        return int(told["rv"]), str(told["start"])
    except JsonError as problem:
        raise bad_request(f"invalid continue token: continue key is not valid: {problem}") from None
    except (binascii.Error, ValueError, KeyError, TypeError):
        raise bad_request("invalid continue token: continue key is not valid: incorrect encoding") from None


def _joined(call: Call, page: Page) -> bytes:
    """A list made of stored bytes, without reading them."""
    head = {
        "apiVersion": call.resource.api_version(call.version.name),
        "kind": call.resource.names.list_kind,
        "metadata": list_metadata(page),
    }
    items = b",".join([entry.data for entry in page.entries])
    return orjson.dumps(head)[:-1] + b',"items":[' + items + b"]}\n"


def _shaped(call: Call, selected: Selected, form: Form) -> Object:
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
    from crossply.apiserver.tables import to_table

    return to_table(
        call.resource, call.version, selected.objects, call.query.get("includeObject", ""), metadata
    )
