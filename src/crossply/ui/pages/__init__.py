"""The pages of the dashboard: each module has ROUTES, and NAVIGATION where the navigation shows it."""

from __future__ import annotations

from importlib import import_module

from crossply.ui.page_types import Navigation, Route

MODULES = (
    "home",
    "composites",
    "resource",
    "resource_actions",
    "runs",
    "compositions",
    "definitions",
    "playground",
    "packages",
    "operations",
)


def routes() -> list[Route]:
    """The routes of all pages."""
    return [route for name in MODULES for route in _module(name).ROUTES]


def navigation() -> list[Navigation]:
    """The entries of the navigation, in their order."""
    entries = [getattr(_module(name), "NAVIGATION", None) for name in MODULES]
    return sorted((entry for entry in entries if entry is not None), key=lambda entry: entry.order)


def _module(name: str):  # type: ignore[no-untyped-def]
    return import_module(f"crossply.ui.pages.{name}")
