"""The playground of a definition: YAML and form side by side, and what it renders to while it is typed."""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
import zlib
from functools import partial
from typing import Any

from aiohttp import web

from crossply.control.kinds import DEFINITION
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.ui.cluster_view import composite_kind
from crossply.ui.page_types import Content, PageRequest, Route
from crossply.ui.pages.compositions import functions_by_name
from crossply.ui.pages.definitions import compositions_of, definition_named
from crossply.ui.playground.platform import Platform, schema_at
from crossply.ui.playground.rendering import (
    RenderedNode,
    RenderingSettings,
    RenderQueue,
    Superseded,
    render_tree,
)
from crossply.ui.playground.sample_resource import as_written, sample_resource, without_engine_schema
from crossply.ui.playground.typed_resource import MAX_TEXT, TextProblem, TypedResource, read_resource
from crossply.ui.views.schema_form import UnusableValue, form_of, set_field
from crossply.values import Object
from crossply.values.cancellation import Interrupted
from crossply.values.yaml import dump
from crossply.values.yaml.comments import dump_with, read_comments

_render_queue = RenderQueue()


MAX_PACKED = 4000
"""Characters of an address that a text may take."""


async def show(page: PageRequest) -> Content:
    """The playground with a text to begin with: that of the address, an object, or a sample."""
    obj, definition = await definition_named(page)
    text = unpack_text(page.query.get("text", "")) or await _beginning(page, obj, definition)
    tab = secrets.token_urlsafe(8)
    values = await _rendered(page, obj, text, page.query.get("composition", ""), tab)
    return Content("playground.html", values, title=f"Playground of {definition.names.kind}")


async def render(page: PageRequest) -> Content | web.StreamResponse:
    """What was typed or chosen, rendered; htmx puts it beside the text."""
    obj, _ = await definition_named(page)
    sent = {key: str(value) for key, value in (await page.http.post()).items()}
    text, note = sent.get("text", ""), ""
    if "pointer" in sent:
        text, note = await asyncio.to_thread(_with_field, obj, text, sent["pointer"], sent.get("value", ""))
    try:
        values = await _rendered(page, obj, text, sent.get("composition", ""), sent.get("tab", ""))
    except Superseded:
        return web.Response(status=204)
    values |= {"note": note, "by_form": "pointer" in sent}
    return Content("playground_result.html", values)


async def _beginning(page: PageRequest, obj: Object, definition: Definition) -> str:
    namespace, _, name = page.query.get("from", "").rpartition("/")
    if name:
        xr = await page.view.read(composite_kind(definition), namespace, name)
        if xr is not None:
            return dump(as_written(xr))
    return dump(sample_resource(definition, _schema(obj, definition.composite.api_version)))


async def _rendered(page: PageRequest, obj: Object, text: str, composition: str, tab: str) -> dict[str, Any]:
    platform = Platform(
        await page.view.objects(DEFINITION),
        await compositions_of(page.view),
        (await functions_by_name(page.view)).values(),
    )
    names = platform.compositions_of(obj)
    chosen = composition if composition in names else ""
    settings = RenderingSettings(page.settings.host_access)
    work = partial(_work, platform, obj, text, chosen, settings)
    resource, tree = await _render_queue.run(f"{page.session.id}{tab[:40]}", work)
    schema = without_engine_schema(_schema(obj, str(resource.typed.get("apiVersion") or "")))
    packed = pack_text(text)
    return {
        "definition": page.match["name"],
        "text": text,
        "tab": tab,
        "compositions": names,
        "chosen": chosen,
        "problems": resource.problems,
        "tree": tree,
        "controls": form_of(schema, resource.typed),
        "packed": packed,
        "note": "",
        "by_form": False,
        "is_partial": page.http.method == "POST",
    }


def _work(
    platform: Platform,
    definition: Object,
    text: str,
    composition: str,
    settings: RenderingSettings,
    is_abandoned: Any,
) -> tuple[TypedResource, RenderedNode | None]:
    """Read, check and render. Runs in a thread."""
    resource = read_resource(text, definition)
    if not resource.defaulted or resource.problems:
        return resource, None
    try:
        tree = render_tree(
            platform, resource.defaulted, composition, settings._replace(is_abandoned=is_abandoned)
        )
    except Interrupted:
        problem = TextProblem(
            f"rendering took longer than {settings.seconds:.0f} seconds",
            hint="crossply render has no such limit",
        )
        return resource._replace(problems=(problem,)), None
    return resource, tree


def _with_field(definition: Object, text: str, pointer: str, value: str) -> tuple[str, str]:
    """The text with one field changed by the form, or as it was and why it cannot be changed."""
    resource = read_resource(text, definition)
    if not resource.typed:
        return text, "The form follows once the YAML can be read."
    schema = without_engine_schema(_schema(definition, str(resource.typed.get("apiVersion") or "")))
    try:
        changed = set_field(resource.typed, schema, pointer, value)
        return dump_with(changed, read_comments(text.encode())), ""
    except UnusableValue as problem:
        return text, f"Not changed: {problem}."


def _schema(definition: Object, api_version: str) -> Object:
    try:
        return schema_at(definition, api_version)
    except CrossplyError:
        return {}


ROUTES = (
    Route("GET", "/playground/{name}", show),
    Route("POST", "/playground/{name}", render, writes=False),
)


def pack_text(text: str) -> str | None:
    """The text for an address; None where it would be too long."""
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).rstrip(b"=").decode()
    return packed if len(packed) <= MAX_PACKED else None


def unpack_text(packed: str) -> str | None:
    """The text of an address; None where it is none."""
    if not packed or len(packed) > MAX_PACKED:
        return None
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        return zlib.decompressobj().decompress(data, MAX_TEXT).decode() or None
    except (binascii.Error, zlib.error, ValueError):
        return None
