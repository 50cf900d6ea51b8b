"""GET of many objects: selected, in pages of one consistent snapshot."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form, negotiate_for
from crossply.apiserver.endpoints.query_options import listed_version, signed_option
from crossply.apiserver.endpoints.replies import FACTORS, Reply, reply
from crossply.apiserver.endpoints.status_errors import (
    Cause,
    bad_list_options,
    bad_request,
    expired,
    future_version,
)
from crossply.apiserver.event_loop_offloading import YAML_FACTOR, Slices
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
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Compacted, Entry
from crossply.apiserver.stored_object_codec import decode, state_of
from crossply.apiserver.verbs.continue_token import LATEST, continue_token, position, read_token, write_token
from crossply.apiserver.verbs.list_encoding import Page, Selected, encode_list, join_stored, shaped_list
from crossply.schema.field_errors import FORBIDDEN, NOT_SUPPORTED

_PER_CLAUSE = 64
"""The weight of matching one selector clause against an object."""
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and now "
    "may show up in the list."
)


async def list_objects(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    signed_option(call, "timeoutSeconds")
    page = _page(context, call)
    plain = form.is_plain and call.resource.is_stored_at(call.version.name)
    if plain and not _selects(call) and _is_fresh(page, call.resource.since):
        return Reply(200, join_stored(call, page))
    if plain and _is_fresh(page, call.resource.since):
        selection = _selection(call)
        if selection.needs_objects:
            selected = await select(context, call, page)
            return Reply(200, join_stored(call, replace(selected.page, entries=selected.entries)))
        page = _first_page(await _matching(context, selection, page), page, _limit(call))
        return Reply(200, join_stored(call, page))
    return await reply_list(context, call, await select(context, call, page), form)


async def reply_list(context: ServerContext, call: Call, selected: Selected, form: Form) -> Reply:
    """A reply with many objects, in the negotiated form."""
    if form.is_plain:
        return Reply(200, await encode_list(selected.as_list(call)))
    factor = FACTORS.get(form.media, YAML_FACTOR)
    weight = sum(len(entry.data) for entry in selected.entries) * factor
    return await context.background.run(weight, lambda: reply(200, shaped_list(call, selected, form), form))


async def select(context: ServerContext, call: Call, page: Page | None = None) -> Selected:
    """The selected objects, at the version of the call."""
    page = page or _page(context, call)
    selection = _selection(call)
    entries = await _matching(context, selection, page)
    slices, decoded = Slices(), []
    for entry in entries:
        decoded.append(decode(entry.data))
        await slices.spend(len(entry.data))
    objects = await convert(context, call.resource, decoded, call.version.name)
    if selection.fields:
        selected = [fields_match(selection.fields, obj) for obj in objects]
        entries, objects = list(compress(entries, selected)), list(compress(objects, selected))
    if _selects(call):
        page = _first_page(entries, page, _limit(call))
    return Selected(objects[: len(page.entries)], page.entries, page)


class _Selection(NamedTuple):
    """The selectors, by what must be known of an object to match it."""

    keys: tuple[FieldClause, ...]
    """Clauses about its name and namespace."""
    labels: tuple[Requirement, ...]
    fields: tuple[FieldClause, ...]
    """Clauses about its other fields."""

    @property
    def needs_objects(self) -> bool:
        """Whether objects must be decoded."""
        return bool(self.fields)


def _selection(call: Call) -> _Selection:
    fields = parse_fields(call.query.get("fieldSelector", ""), call.version, custom=call.resource.custom)
    keys = tuple(clause for clause in fields if clause.is_about_key)
    rest = tuple(clause for clause in fields if not clause.is_about_key)
    return _Selection(keys, parse_labels(call.query.get("labelSelector", "")), rest)


async def _matching(context: ServerContext, selection: _Selection, page: Page) -> list[Entry]:
    """The entries that match by key and labels."""
    if not selection.keys and not selection.labels:
        return page.entries
    entries = _named(page.entries, selection.keys)
    slices, matching = Slices(), []
    cost = _PER_CLAUSE * (1 + len(selection.keys) + len(selection.labels))
    for entry in entries:
        if keys_match(selection.keys, entry.key) and (
            not selection.labels or labels_match(selection.labels, context.decoded.labels(state_of(entry)))
        ):
            matching.append(entry)
        await slices.spend(cost + (len(entry.data) if selection.labels else 0))
    return matching


def _named(entries: list[Entry], keys: tuple[FieldClause, ...]) -> list[Entry]:
    """The entries of one namespace that can have a selected name; they are in order."""
    name = next((clause.value for clause in keys if clause.path == "metadata.name" and clause.equal), None)
    if name is None or not entries or entries[0].key[1] != entries[-1].key[1]:
        return entries
    start = bisect_left(entries, name, key=lambda entry: entry.key[2])
    return entries[start : start + 1]


def _is_fresh(page: Page, since: int) -> bool:
    """Whether no entry was stored before the last change of the definition."""
    return not since or all(entry.revision >= since for entry in page.entries)


def _selects(call: Call) -> bool:
    return bool(call.query.get("labelSelector") or call.query.get("fieldSelector"))


def _first_page(entries: list[Entry], page: Page, limit: int) -> Page:
    """The first selected entries, up to the limit; how many remain is not known without matching all."""
    if not limit or len(entries) <= limit:
        return replace(page, entries=entries)
    return Page(entries[:limit], page.revision, continue_token(page.revision, entries[limit - 1]))


def _page(context: ServerContext, call: Call) -> Page:
    # Selected entries are only known after matching, so their page is cut afterwards.
    limit = 0 if _selects(call) else _limit(call)
    token = call.query.get("continue", "")
    if token:
        if call.query.get("resourceVersion"):
            raise bad_request("specifying resource version is not allowed when using continue")
        return _next_page(context, call, token, limit)
    revision = _requested_revision(context, call)
    if revision is None:
        entries, revision = context.store.list(call.resource.key, call.namespace), context.store.revision
    else:
        entries = _entries_at(context, call, revision)
    return _page_of(entries, revision, limit)


def _limit(call: Call) -> int:
    return max(signed_option(call, "limit") or 0, 0)


def _requested_revision(context: ServerContext, call: Call) -> int | None:
    """The exact revision to list at; None for the newest."""
    text, match = call.query.get("resourceVersion", ""), call.query.get("resourceVersionMatch", "")
    _check_match(call, text, match)
    revision = listed_version(call)
    if revision is None:
        return None
    if revision > context.store.revision:
        raise future_version(revision, context.store.revision)
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


def _entries_at(context: ServerContext, call: Call, revision: int) -> list[Entry]:
    try:
        return context.store.list_at(call.resource.key, call.namespace, revision)
    except Compacted:
        raise expired(
            "The resourceVersion for the provided list is too old."
            if not call.query.get("continue")
            else _TOO_OLD
        ) from None


def _page_of(entries: list[Entry], revision: int, limit: int, start: int = 0) -> Page:
    if not limit or len(entries) - start <= limit:
        return Page(entries[start:] if start else entries, revision)
    page = entries[start : start + limit]
    return Page(page, revision, continue_token(revision, page[-1]), len(entries) - start - limit)


def _next_page(context: ServerContext, call: Call, token: str, limit: int) -> Page:
    revision, start = read_token(token)
    if revision > context.store.revision:
        raise future_version(revision, context.store.revision)
    if revision < 0:
        revision, entries = context.store.revision, context.store.list(call.resource.key, call.namespace)
    else:
        entries = _snapshot(context, call, revision, start)
    # The page begins behind what was listed: the entries before it are not looked at again.
    return _page_of(entries, revision, limit, bisect_right(entries, start, key=position))


def _snapshot(context: ServerContext, call: Call, revision: int, start: str) -> list[Entry]:
    """The entries at the revision of a token; the error of a compacted one has a token for the newest."""
    try:
        return context.store.list_at(call.resource.key, call.namespace, revision)
    except Compacted:
        problem = expired(_TOO_OLD)
        problem.list_metadata = {"continue": write_token(LATEST, start)}
        raise problem from None
