"""Templates: everything is escaped, and long values are cut unless a page shows them in full."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from crossply.provenance.source_wording import how_text, manager_name, source_name, source_verb
from crossply.ui.object_state_and_row import WORDS, seconds
from crossply.ui.views.run_waterfall import duration, outcome_state
from crossply.values.gojson import dumps
from crossply.values.timestamps import format_timestamp

HERE = os.path.dirname(__file__)
MOST_CHARACTERS = 300
_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def make_environment() -> Environment:
    """The environment of all pages."""
    environment = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        age=age,
        cut=cut,
        breakable=breakable,
        utc_time=utc_time,
        count=count,
        milliseconds=milliseconds,
        duration=duration,
        json_text=json_text,
        seconds=seconds,
        how_text=how_text,
        manager_name=manager_name,
        source_name=source_name,
        source_verb=source_verb,
    )
    environment.globals.update(
        resource_url=resource_url,
        with_query=with_query,
        words=WORDS,
        now=time.time,
        asset=asset,
        outcome_state=outcome_state,
    )
    return environment


def age(since: float) -> str:
    """How long ago, in one or two units, as kubectl writes it."""
    if not since:
        return "–"
    seconds = max(0, int(time.time() - since))
    for index, (unit, size) in enumerate(_UNITS):
        if seconds >= 2 * size or (seconds >= size and index):
            rest = (seconds % size) // (_UNITS[index + 1][1] if index + 1 < len(_UNITS) else 1)
            smaller = _UNITS[index + 1][0] if index + 1 < len(_UNITS) else "s"
            return (
                f"{seconds // size}{unit}{rest}{smaller}"
                if rest and seconds < 10 * size
                else f"{seconds // size}{unit}"
            )
    return f"{seconds}s"


def utc_time(since: float) -> str:
    """A time in UTC, for titles and the datetime attribute."""
    return format_timestamp(datetime.fromtimestamp(since, UTC)) if since else ""


def cut(value: Any, most: int = MOST_CHARACTERS) -> str:
    """A value as text, with at most so many characters."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def json_text(value: Any) -> str:
    """A text as it is, any other value as in JSON."""
    return value if isinstance(value, str) else dumps(value)


def breakable(text: str) -> Markup:
    """A path that may be broken after its separators."""
    return Markup("<wbr>").join(re.split(r"(?<=[./])(?=.)", text))


def count(number: int) -> str:
    """A number with thin spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def milliseconds(seconds: float) -> str:
    """A duration for a column of them."""
    if not seconds:
        return "–"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def resource_url(group: str, kind: str, namespace: str, name: str, **query: str) -> str:
    """The page of any object. `-` stands for no namespace, `core` for the group without a name."""
    parts = (group or "core", kind, namespace or "-", name)
    path = "/resources/" + "/".join(quote(part, safe="") for part in parts)
    return f"{path}?{urlencode(query)}" if query else path


def with_query(path: str, query: Mapping[str, str], **changes: str | None) -> str:
    """An address with other values in its query; None removes one."""
    merged = {**query, **changes}
    left = {key: value for key, value in merged.items() if value}
    return f"{path}?{urlencode(left)}" if left else path


def asset(name: str) -> str:
    """The address of an asset, with its time of change, so that browsers keep it as long as it is current."""
    changed = int(os.path.getmtime(os.path.join(HERE, "assets", name)))
    return f"/assets/{name}?v={changed:x}"
