"""Packages: Functions, Providers and Configurations with revisions, dependencies, uses and logs."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of
from crossply.control.kinds import (
    COMPOSITION,
    CONFIGURATION,
    CONFIGURATION_REVISION,
    FUNCTION,
    FUNCTION_REVISION,
    LOCK,
    PROVIDER,
    PROVIDER_REVISION,
)
from crossply.kube.kind import Kind
from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import Node
from crossply.ui.package_logs import read_log
from crossply.ui.page_types import Content, MissingRight, Navigation, PageNotFound, PageRequest, Route
from crossply.ui.views.object_health import conditions_of
from crossply.ui.views.package_rows import (
    dependencies_of,
    dependents_of,
    installed_groups,
    package_revision_rows,
    package_row,
    package_rows,
)
from crossply.ui.views.pipeline_picture import called_functions
from crossply.ui.views.short_text import block
from crossply.values import Object
from crossply.values.api_version import api_group

KINDS = {
    "functions": (FUNCTION, FUNCTION_REVISION),
    "providers": (PROVIDER, PROVIDER_REVISION),
    "configurations": (CONFIGURATION, CONFIGURATION_REVISION),
}


async def show_list(page: PageRequest) -> Content:
    """All packages."""
    rows, hidden = [], []
    compositions = await page.view.readable_objects(COMPOSITION)
    for kind, _ in KINDS.values():
        try:
            rows += package_rows(await page.view.objects(kind), compositions)
        except MissingRight:
            hidden.append(kind)
    topics = {COMPOSITION.resource, *(kind.resource for kind, _ in KINDS.values())}
    return Content("packages.html", {"rows": rows, "hidden": hidden}, title="Packages", topics=topics)


async def show(page: PageRequest) -> Content:
    """One package."""
    kind, revision_kind = _kinds(page)
    package = await _package(page, kind)
    revisions = await page.view.readable_objects(revision_kind)
    callers = [
        name_of(composition)
        for composition in await page.view.readable_objects(COMPOSITION)
        if name_of(package) in called_functions(composition)
    ]
    row = package_row(package, callers)
    users = await _users(page, installed_groups(revisions, row.name)) if kind == PROVIDER else None
    lock = await _lock(page)
    values = {
        "plural": kind.plural,
        "row": row,
        "revisions": package_revision_rows(revisions, row.name),
        "conditions": list(conditions_of(package).values()),
        "dependencies": dependencies_of(lock, row.revision),
        "dependents": dependents_of(lock, row.revision),
        "users": users,
        "has_log": kind != CONFIGURATION,
        "yaml_text": block(package),
    }
    topics = {kind.resource, revision_kind.resource, COMPOSITION.resource}
    topics |= {user.resource for user, _ in users or ()}
    return Content("package.html", values, title=f"{row.kind} {row.name}", topics=topics)


async def _users(page: PageRequest, groups: set[str]) -> list[tuple[Kind, int]] | None:
    """The kinds of composite resources that compose something of these groups, and how many do.

    None where the viewer may not see definitions.
    """
    try:
        views = await page.view.composites()
    except MissingRight:
        return None
    counted = [
        (view.kind, sum(_composes(obj, groups) for obj in view.objects()))
        for view in views
        if not view.refused
    ]
    return [(kind, number) for kind, number in counted if number]


def _composes(obj: Object, groups: set[str]) -> bool:
    references = child_references(Node(obj), False)
    return any(api_group(reference.api_version) in groups for reference in references)


async def show_log(page: PageRequest) -> Content:
    """The last lines that the program of a package wrote."""
    kind, _ = _kinds(page)
    package = await _package(page, kind)
    name = name_of(package)
    directory = page.settings.logs
    missing: MissingRight | None = None
    text = None
    try:
        text = await read_log(page.client, directory, kind.kind, name)
    except MissingRight as refused:
        missing = refused
    values = {"plural": kind.plural, "kind": kind.kind, "name": name, "text": text, "missing": missing}
    return Content("package_log.html", values, title=f"Log of {name}")


def _kinds(page: PageRequest) -> tuple[Kind, Kind]:
    kinds = KINDS.get(page.match["plural"])
    if kinds is None:
        raise PageNotFound(
            "there are no such packages", hint="packages are functions, providers, configurations"
        )
    return kinds


async def _package(page: PageRequest, kind: Kind) -> Object:
    name = page.match["name"]
    for package in await page.view.objects(kind):
        if name_of(package) == name:
            return package
    raise PageNotFound(f'there is no {kind.kind} "{name}"', hint="it may have been deleted")


async def _lock(page: PageRequest) -> Object:
    try:
        return await page.view.read(LOCK, "", "lock") or {}
    except MissingRight:
        return {}


ROUTES = (
    Route("GET", "/packages", show_list),
    Route("GET", "/packages/{plural}/{name}", show),
    Route("GET", "/packages/{plural}/{name}/log", show_log),
)
NAVIGATION = Navigation("Packages", "/packages", 60)
