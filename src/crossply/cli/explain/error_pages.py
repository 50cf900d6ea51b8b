"""The pages of errors, offline: `error_pages.json` is made of the error classes by `make docs`."""

from __future__ import annotations

import json
import os
from typing import Any

from crossply.cli.framework.command import Invocation
from crossply.errors import CrossplyError

_PAGES = os.path.join(os.path.dirname(__file__), "error_pages.json")


_FAR = 50
"""The maximum distance of a code that is suggested instead of an unknown one."""


class UnknownErrorCode(CrossplyError):
    """There is no error with this code."""

    code = "CP-571"


def write_page(invocation: Invocation, text: str) -> None:
    """Print the page of a code; raises UnknownErrorCode, with the nearest codes."""
    code = f"CP-{text.upper().removeprefix('CP').removeprefix('-')}"
    pages = _load()
    if code not in pages:
        raise UnknownErrorCode(f"there is no error {code}", hint=_nearest(code, pages))
    page = {"code": code, **pages[code]}
    if invocation["output"] == "json":
        invocation.stdout.write(f"{json.dumps(page, indent=2)}\n")
        return
    style = invocation.style
    lines = [f"{style.bold(code)}  {page['room']}", "", *page["text"]]
    if page["hint"]:
        lines += ["", f"Try: {page['hint']}"]
    invocation.stdout.write("".join(f"{line}\n" for line in lines))


def _load() -> dict[str, dict[str, Any]]:
    with open(_PAGES, encoding="utf-8") as file:
        pages: dict[str, dict[str, Any]] = json.load(file)
    return pages


def _nearest(code: str, pages: dict[str, dict[str, Any]]) -> str:
    number = int(digits) if (digits := code.removeprefix("CP-")).isdecimal() else 0
    near = sorted(pages, key=lambda known: (abs(int(known[3:]) - number), known))[:3]
    if abs(int(near[0][3:]) - number) > _FAR:
        known_codes = sorted(pages, key=lambda known: int(known[3:]))
        return f"the codes go from {known_codes[0]} to {known_codes[-1]}"
    return "; ".join(f"{known}: {pages[known]['text'][0].rstrip('.')}" for known in sorted(near))
