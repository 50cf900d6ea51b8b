"""The page that publishes which end-to-end tests of Kubernetes pass: docs/conformance.md.

A run covers one server, and maybe only some tests. The results of the others stay on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.cluster.e2e_selection import NOTE, Line, Selection, longest

SERVERS = ("real", "embedded")
NOT_RUN = "–"
_TABLE = "| test | real | embedded | note |"
_RULE = "|---|---|---|---|"

_HEAD = """\
# Conformance: the end-to-end tests of Kubernetes

Kubernetes tests itself with a suite of end-to-end tests. Those of them that say something about an API server
without nodes are run on the embedded server (`crossply apiserver`) and on a real one (kube-apiserver
{version} with etcd and kube-controller-manager), with the same program and the same flags:

    make test-e2e                          the embedded server
    make test-e2e SERVER=real              a real one, built from source
    tests/cluster/e2e.sh embedded Watchers only the tests whose names fit

This page is written by `tests/cluster/e2e.sh`; the tests are chosen in `tests/cluster/e2e-tests.txt`.
While they run, a namespace is annotated every half minute, so that an idle server also ages its list tokens.
"""


class Row(NamedTuple):
    """What is known of one test: how it ended on each server."""

    results: Mapping[str, str]


def read_page(text: str) -> dict[str, Row]:
    """The results on a page."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == len(SERVERS) + 2:
            rows[cells[0].strip("`")] = Row(dict(zip(SERVERS, cells[1:], strict=False)))
    return rows


def write_page(
    selection: Selection,
    lines: Sequence[Line],
    old: Mapping[str, Row],
    server: str,
    new: Mapping[str, str],
    version: str,
) -> str:
    """The page after a run on one server."""
    notes = [line for line in lines if line.sign == NOTE]
    rows = {}
    for name in selection.chosen:
        known = old[name].results if name in old else {}
        rows[name] = Row({**known, server: new.get(name, known.get(server, NOT_RUN))})
    table = [_TABLE, _RULE, *(_row(name, row, longest(notes, name)) for name, row in rows.items())]
    parts = [_HEAD.format(version=version), _counts(rows), "\n".join(table), _left_out(selection)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _counts(rows: Mapping[str, Row]) -> str:
    count = [
        f"* {server}: {sum(row.results.get(server) == 'passed' for row in rows.values())} of {len(rows)} pass"
        for server in SERVERS
    ]
    return "\n".join(count)


def _row(name: str, row: Row, note: Line | None) -> str:
    results = [row.results.get(server, NOT_RUN) for server in SERVERS]
    return f"| `{name}` | {' | '.join(results)} | {_cell(note.reason) if note else ''} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _left_out(selection: Selection) -> str:
    counts: dict[Line, int] = {}
    for line in selection.left_out.values():
        counts[line] = counts.get(line, 0) + 1
    rows = [f"| `{line.start}` | {count} | {_cell(line.reason)} |" for line, count in counts.items()]
    return "\n".join(
        ["## Left out", "", "| tests that begin with | how many | why |", "|---|---|---|", *rows]
    )
