"""`convert` rewrites what is in an older form, and leaves everything else alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversion_bench import Bench

from crossply.values.yaml import read_stream

EXAMPLES = Path(__file__).parents[2] / "examples"
FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-patch-and-transform}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0}
"""
XRD = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xcaches.acme.test}
spec:
  group: acme.test
  names: {kind: XCache, plural: xcaches}
  claimNames: {kind: Cache, plural: caches} # for teams
  versions: []
"""
CLAIM = """\
apiVersion: acme.test/v1
kind: Cache
metadata: {name: mine, namespace: team}
spec:
  # Ours, tested last week.
  compositionRef: {name: c}
"""
CONFIG_MAP = "# kept\napiVersion: v1\nkind: ConfigMap\ndata: {b: '1', a: '2'} # as it is\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)


def test_a_stream_is_converted_document_by_document(bench: Bench) -> None:
    result = bench.run("convert", f"{XRD}---\n{CONFIG_MAP}---\n{CLAIM}")
    definition, config_map, xr = (document.value for document in read_stream(result.out))
    assert definition["spec"]["scope"] == "Namespaced"
    assert config_map["data"] == {"b": "1", "a": "2"}
    assert (xr["kind"], xr["metadata"]["namespace"]) == ("XCache", "team")
    assert f"---\n{CONFIG_MAP}---\n" in result.out
    assert result.err == (
        "CompositeResourceDefinition xcaches.acme.test: spec.claimNames is left out, version 2 has nothing "
        "like it.\n"
    )


def test_comments_follow_their_fields(bench: Bench) -> None:
    result = bench.run("convert", f"{XRD}---\n{CLAIM}")
    assert "# for teams\nspec:\n" in result.out
    assert "  crossplane:\n    # Ours, tested last week.\n    compositionRef:\n" in result.out


def test_definitions_may_lie_in_other_files(bench: Bench) -> None:
    bench.write("xrd.yaml", XRD)
    assert bench.run("convert --xrd xrd.yaml --scope Cluster", CLAIM).value["metadata"] == {"name": "mine"}


def test_what_is_of_today_needs_no_changes(bench: Bench) -> None:
    result = bench.run("convert", CONFIG_MAP + "---\n- a list\n")
    assert (result.code, result.out, result.err) == (0, "", "No changes needed.\n")


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("05-legacy-resources", "--xrd {0}/xrd.yaml --observed-resources {0}/observed.yaml"),
        ("06-mysqlinstance", "--xrd {0}/definition.yaml"),
    ],
)
def test_a_converted_composition_composes_the_same(bench: Bench, example: str, words: str) -> None:
    folder = EXAMPLES / example
    bench.write("functions.yaml", FUNCTIONS)
    assert bench.run(f"convert {folder}/composition.yaml -o composition.yaml").code == 0
    rendered = bench.run(f"render {folder}/xr.yaml composition.yaml functions.yaml {words.format(folder)}")
    assert rendered.out == (folder / "expected.yaml").read_text()


def test_what_cannot_be_converted_is_told(bench: Bench) -> None:
    assert bench.run("convert", "a: [").last_line.startswith(
        "cannot convert: error converting YAML to JSON: yaml"
    )
    unreadable = bench.run("convert", XRD.replace("{kind: XCache, plural: xcaches}", "x"))
    assert unreadable.last_line.startswith(
        "cannot convert: cannot read an XRD: spec.names: must be an object"
    )
    broken = (
        "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: c}\nspec: {to: x}\n"
    )
    result = bench.run("convert", f"a: 1\n---\n{broken}")
    assert result.last_line == "cannot convert Composition c: spec.resources is not a list of objects"
    assert "stdin:3" in result.err
