"""`convert` rewrites what is in an older form, and leaves everything else alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.values.yaml import read_stream
from tests.support.cli.command_files import Bench

EXAMPLES = Path(__file__).parents[2] / "examples"
FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-patch-and-transform}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0}
---
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-environment-configs}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-environment-configs:v0.4.0}
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


def test_comments_move_with_their_fields(bench: Bench) -> None:
    result = bench.run("convert", f"{XRD}---\n{CLAIM}")
    assert "# for teams\nspec:\n" in result.out
    assert "  crossplane:\n    # Ours, tested last week.\n    compositionRef:\n" in result.out


def test_definitions_may_lie_in_other_files(bench: Bench) -> None:
    bench.write("xrd.yaml", XRD)
    assert bench.run("convert --xrd xrd.yaml --scope Cluster", CLAIM).value["metadata"] == {"name": "mine"}


def test_current_manifests_need_no_changes(bench: Bench) -> None:
    stream = CONFIG_MAP + "---\n- a list\n"
    result = bench.run("convert", stream)
    assert (result.code, result.out, result.err) == (0, stream, "No changes needed.\n")
    bench.write("current.yaml", stream)
    assert bench.run("convert current.yaml -o new.yaml").code == 0
    assert Path("new.yaml").read_text() == stream


def test_a_claim_whose_definition_is_unknown_is_named(bench: Bench) -> None:
    result = bench.run("convert", CLAIM)
    assert (result.code, result.out) == (0, CLAIM)
    assert result.err == (
        "Cache mine: unchanged, because the definition of Cache of acme.test/v1 is unknown. "
        "If it is a claim or XR, name its XRD with --xrd.\n"
    )


def test_a_kind_that_a_definition_of_today_defines_is_not_called_unknown(bench: Bench) -> None:
    current = XRD.replace("apiextensions.crossplane.io/v1", "apiextensions.crossplane.io/v2").replace(
        "XCache", "Cache"
    )
    result = bench.run("convert", f"{current}---\n{CLAIM}")
    assert result.err == "No changes needed.\n"


@pytest.mark.parametrize(
    ("example", "words"),
    [
        (
            "05-legacy-resources",
            "--xrd {0}/xrd.yaml --observed-resources {0}/observed.yaml --extra-resources environment.yaml",
        ),
        ("06-mysqlinstance", "--xrd {0}/definition.yaml"),
    ],
)
def test_a_converted_composition_composes_the_same(bench: Bench, example: str, words: str) -> None:
    folder = EXAMPLES / example
    bench.write("functions.yaml", FUNCTIONS)
    for name in ("composition.yaml", "environment.yaml"):
        if (folder / name).exists():
            assert bench.run(f"convert {folder}/{name} -o {name}").code == 0
    rendered = bench.run(f"render {folder}/xr.yaml composition.yaml functions.yaml {words.format(folder)}")
    assert rendered.out == (folder / "expected.yaml").read_text()


def test_an_environment_config_gets_the_version_that_the_function_reads(bench: Bench) -> None:
    config = "apiVersion: apiextensions.crossplane.io/{} # old\ndata:\n  a: 1\nkind: EnvironmentConfig\n"
    assert bench.run("convert", config.format("v1alpha1")).out == "---\n" + config.format("v1beta1")


def test_an_unconvertible_composition_is_reported(bench: Bench) -> None:
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


COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: caches}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: XCache}
  resources:
  - name: bucket
    base: {apiVersion: s3.aws.upbound.io/v1beta1, kind: Bucket, metadata: null, spec: {forProvider: {}}}
  - name: fine
    base: {apiVersion: s3.aws.m.upbound.io/v1beta1, kind: Bucket, spec: {forProvider: {}}}
  - base: {apiVersion: v1, kind: Namespace}
  - name: config
    base: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}
  - name: inner
    base: {apiVersion: acme.test/v1, kind: XStore}
  - name: own
    base: {apiVersion: own.test/v1, kind: Wide}
"""
INNER = (
    XRD.replace("XCache", "XStore")
    .replace("xcaches", "xstores")
    .replace("  claimNames: {kind: Cache, plural: caches} # for teams\n", "")
)
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wides.own.test}
spec: {group: own.test, scope: Cluster, names: {kind: Wide, plural: wides}, versions: []}
"""
PIPELINE = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: templated}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: XCache}
  mode: Pipeline
  pipeline:
  - step: render
    functionRef: {name: function-go-templating}
    input:
      inline:
        template: |
          {{ if true }}
          ---
          apiVersion: kubernetes.crossplane.io/v1alpha2
          kind: Object
          metadata:
            annotations:
              {{ setResourceNameAnnotation "wrapped" }}
          ---
          apiVersion: v1
          kind: Secret
          {{ end }}
"""


def test_a_composition_that_namespaced_xrs_cannot_use_is_named_with_its_resources(bench: Bench) -> None:
    result = bench.run("convert", "---\n".join((XRD, INNER, CRD, COMPOSITION, PIPELINE)))
    lines = [line for line in result.err.splitlines() if line.startswith("Composition ")]
    end = "or keep the XRD cluster-scoped with --scope=Cluster."
    why = "The XRD becomes Namespaced, and namespaced XRs cannot compose cluster-scoped objects:"
    use = "use the provider's namespaced kind, usually of"
    assert lines == [
        f"Composition {name} has the cluster-scoped kind {kind}. {why} {advice}, {end}"
        for name, kind, advice in (
            (
                'caches: resource "bucket"',
                "Bucket of s3.aws.upbound.io/v1beta1",
                f"{use} s3.aws.m.upbound.io/v1beta1",
            ),
            (
                'caches: resource "resource-2"',
                "Namespace of v1",
                "have it made by another, cluster-scoped XR",
            ),
            ('caches: resource "inner"', "XStore of acme.test/v1", "make its definition Namespaced, too"),
            ('caches: resource "own"', "Wide of own.test/v1", "make its definition Namespaced, too"),
            (
                'templated: resource "wrapped"',
                "Object of kubernetes.crossplane.io/v1alpha2",
                f"{use} kubernetes.m.crossplane.io/v1alpha2",
            ),
        )
    ]


@pytest.mark.parametrize(
    ("words", "definition", "reason"),
    [
        ("convert --scope=Cluster", XRD, "the XRD stays cluster-scoped"),
        ("convert", INNER, "a kind without claims stays cluster-scoped"),
    ],
)
def test_no_note_where_the_xrd_stays_cluster_scoped(
    bench: Bench, words: str, definition: str, reason: str
) -> None:
    composition = COMPOSITION.replace("kind: XCache", "kind: XStore") if definition == INNER else COMPOSITION
    assert "Composition caches:" not in bench.run(words, f"{definition}---\n{composition}").err, reason


def test_a_metadata_that_is_null_is_dropped_from_bases(bench: Bench) -> None:
    converted = read_stream(bench.run("convert", COMPOSITION).out)[0].value
    bases = [resource["base"] for resource in converted["spec"]["pipeline"][0]["input"]["resources"]]
    assert "metadata" not in bases[0]
    assert bases[3]["metadata"] == {"labels": {"a": "b"}}
