"""Sprig's getHostByName, which Crossply does not have: a composition must not depend on who looks."""

from __future__ import annotations

from typing import NoReturn

from crossply.functions.builtin.go_templating.signatures import FunctionFailed


def get_host_by_name(name: str) -> NoReturn:
    """Refuse to ask the network."""
    raise FunctionFailed(
        f"cannot look up {name}: templates have no network here; pass the address in the composite resource"
    )
