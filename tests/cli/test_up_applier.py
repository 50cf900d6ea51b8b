"""What `crossply up FILES` does with objects: order, kinds that are not served, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from crossply.cli.framework.styling import PLAIN
from crossply.cli.up.files.applier import (
    CHANGED,
    CREATED,
    DELETED,
    FAILED,
    UNCHANGED,
    Applier,
    Outcome,
    in_order,
    is_pruned,
    is_shown,
)
from crossply.cli.up.files.file_set import FileObject, FileSet
from crossply.cli.up.files.live_view import MOST_FIELDS, composed_lines, outcome_lines
from crossply.kube.client import Client
from crossply.resource_tree.node import Node
from tests.support.cli.app_platform import PROJECT, SUITE, XR
from tests.support.cli.trace_cluster import World


def obj(api_version: str, kind: str, name: str = "x", **fields: object) -> dict:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


ORDERED = [
    obj("v1", "Namespace"),
    obj("apiextensions.crossplane.io/v2", "CompositeResourceDefinition"),
    obj("apiextensions.crossplane.io/v1", "Composition"),
    obj("pkg.crossplane.io/v1beta1", "DeploymentRuntimeConfig"),
    obj("pkg.crossplane.io/v1", "Function"),
    obj("v1", "Secret"),
    obj("acme.test/v1", "App"),
]


def test_prerequisites_are_applied_first() -> None:
    assert in_order(list(reversed(ORDERED))) == list(reversed(range(len(ORDERED))))
    assert [item["kind"] for item in ORDERED if is_shown(item)] == ["App"]
    unpruned_kinds = [item["kind"] for item in ORDERED if not is_pruned(item)]
    assert unpruned_kinds == ["Namespace", "CompositeResourceDefinition", "Function"]


def test_documents_that_no_server_reads_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "deep" / "all.yaml").write_text(f"{SUITE}---\n{XR}")
    (tmp_path / "project.yaml").write_text(PROJECT)
    (tmp_path / "deep" / ".hidden" / "xr.yaml").write_text(XR.replace("shop", "hidden"))
    (tmp_path / "nameless.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    items, problems = FileSet([str(tmp_path)]).read()
    assert [item.label for item in items] == ["App/shop (default)"]
    assert items[0].place == f"{tmp_path}/deep/all.yaml:5"
    assert [(str(problem), problem.place) for problem in problems] == [
        ("the object has no metadata.name", f"{tmp_path}/nameless.yaml:1")
    ]


def test_a_file_that_breaks_counts_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "xr.yaml"
    file.write_text(XR)
    files = FileSet([str(file)])
    files.read()
    file.write_text("kind: [")
    items, problems = files.read()
    assert ([item.label for item in items], len(problems)) == (["App/shop (default)"], 1)
    file.unlink()
    assert files.read() == ([], []), "that is no mistake: its objects are pruned"


def test_a_briefly_empty_file_counts_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "xr.yaml"
    file.write_text(XR)
    files = FileSet([str(file)])
    files.read()
    for blank in ("", " \n"):
        file.write_text(blank)
        items, problems = files.read()
        assert [item.label for item in items] == ["App/shop (default)"]
        assert "the file is empty" in str(problems[0])
    file.write_text("# nothing, on purpose\n")
    assert files.read() == ([], [])


def test_an_object_that_is_refused_is_known_to_exist_if_it_does(world: World) -> None:
    def item(name: str, **data: object) -> FileObject:
        return FileObject(obj("v1", "ConfigMap", name, data=data), "file.yaml:1")

    async def case(client: Client) -> list[tuple[str, bool]]:
        applier = Applier(client)
        await applier.apply([item("older", a="1")])
        outcomes = await applier.apply([item("older", a=[]), item("newer", a=[])])
        await applier.apply([])
        return [(outcome.action, outcome.exists) for outcome in outcomes]

    assert world.run(case) == [(FAILED, True), (FAILED, False)]


def test_objects_are_created_changed_and_deleted(world: World) -> None:
    def item(**data: str) -> FileObject:
        return FileObject(obj("v1", "ConfigMap", "applied", data=data), "file.yaml:1")

    async def case(client: Client) -> list[list[str]]:
        applier = Applier(client)
        steps = [[item(a="1")], [item(a="1")], [item(a="2")], []]
        return [[outcome.action for outcome in await applier.apply(items)] for items in steps]

    assert world.run(case) == [[CREATED], [UNCHANGED], [CHANGED], [DELETED]]


def test_a_kind_that_is_never_served_fails_after_a_while_and_the_rest_is_applied(world: World) -> None:
    items = [
        FileObject(obj("nowhere.test/v1", "Ghost", "boo"), "ghost.yaml:3"),
        FileObject(obj("v1", "ConfigMap", "beside"), "map.yaml:1"),
    ]
    waited: list[list[str]] = []

    def wait_on(later: Sequence[FileObject], outcomes: Sequence[Outcome]) -> bool:
        waited.append([item.label for item in (*(outcome.item for outcome in outcomes), *later)])
        return True

    async def case(client: Client) -> list[str]:
        outcomes = await Applier(client, seconds=1.0).apply(items, wait_on)
        assert [(outcome.item.label, outcome.action) for outcome in outcomes] == [
            ("ConfigMap/beside (default)", CREATED),
            ("Ghost/boo", FAILED),
        ]
        return outcome_lines(outcomes[1:], PLAIN)

    lines = world.run(case)
    assert waited[0] == ["ConfigMap/beside (default)", "Ghost/boo"]
    assert lines[0] == '! Ghost/boo: no matches for kind "Ghost" in version "nowhere.test/v1"'
    assert lines[1].strip() == "at ghost.yaml:3"
    assert lines[2].startswith("    try: check the apiVersion and kind")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({}, {"data": {"a": "1"}}, ["~ ConfigMap/x changed", '    + data.a: "1"']),
        ({"status": {"a": 1}}, {"status": {"a": 2}}, []),
        (
            {"data": {}},
            {"data": {str(number): "v" for number in range(MOST_FIELDS + 2)}},
            ["~ ConfigMap/x changed", *["    +"] * MOST_FIELDS, "    and 2 more fields"],
        ),
    ],
    ids=["a field", "status", "many fields"],
)
def test_changes_are_summarized(before: dict, after: dict, lines: list[str]) -> None:
    objects = [obj("v1", "ConfigMap", **fields) for fields in (before, after)]
    was, now = ({Node(item).reference: item} for item in objects)
    shown = composed_lines(was, now, set(), PLAIN)
    assert len(shown) == len(lines)
    assert all(line.startswith(start) for line, start in zip(shown, lines, strict=True))
    assert composed_lines(was, now, set(was), PLAIN) == [], "objects of the files are shown elsewhere"
