"""`xr generate` makes composite resources of claims, `xr patch` fills in their defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli.command_files import Bench

CLAIM = """\
apiVersion: acme.test/v1
kind: Cache
metadata: {name: mine, namespace: team}
spec: {size: 3}
"""
XRD = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: xcaches.acme.test}
spec:
  group: acme.test
  scope: Namespaced
  names: {kind: XCache, plural: xcaches}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3}
              tier: {type: string}
"""
XR = """\
apiVersion: acme.test/v1
kind: XCache
metadata: {name: x}
spec: # as small as can be
  tier: gold
"""
NO_DEFAULTS = 'cannot apply XRD defaults to XR "x"'


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    workbench = Bench(tmp_path, monkeypatch, capsys)
    workbench.write("xrd.yaml", XRD)
    return workbench


def test_a_claim_gets_a_composite_resource_with_a_random_name(bench: Bench) -> None:
    first, second = (bench.run("xr generate", CLAIM).value["metadata"]["name"] for _ in range(2))
    assert first.startswith("mine-")
    assert len(first) == len("mine-") + 5
    assert first != second


def test_a_direct_one_has_the_name_of_the_claim(bench: Bench) -> None:
    bench.write("claim.yaml", CLAIM)
    bench.run("xr generate claim.yaml --direct --gen-uid --kind Store -o xr.yaml")
    written = bench.read("xr.yaml")
    assert (written["kind"], written["metadata"]["name"]) == ("Store", "mine")
    assert len(written["metadata"].pop("uid")) == 36
    assert "claimRef" not in written["spec"]


def test_the_last_word_on_direct_counts(bench: Bench) -> None:
    assert "claimRef" in bench.run("xr generate --direct --no-direct", CLAIM).value["spec"]


def test_a_claim_without_a_spec_is_refused(bench: Bench) -> None:
    refused = bench.run("xr generate", CLAIM.replace("spec: {size: 3}\n", ""))
    assert refused.code == 1
    assert refused.last_line == "cannot convert Claim to XR: no spec section in Claim"


def test_an_empty_file_is_no_claim(bench: Bench) -> None:
    sentence = "cannot convert Claim to XR: invalid Claim YAML: parsed object is empty"
    assert bench.run("xr generate", "# nothing\n").last_line == sentence


def test_defaults_are_filled_in_and_comments_preserved(bench: Bench) -> None:
    result = bench.run("xr patch --xrd xrd.yaml", XR)
    assert result.out.endswith("spec: # as small as can be\n  size: 3\n  tier: gold\n")


@pytest.mark.parametrize(
    ("words", "xr", "sentence"),
    [
        ("", XR, "no patching flag provided: at least one of --xrd must be set"),
        (
            "--xrd xrd.yaml",
            XR.replace("/v1", "/v2"),
            f"{NO_DEFAULTS}: the specified API version 'acme.test/v2' does not exist in the XRD",
        ),
        (
            "--xrd xrd.yaml",
            XR.replace("acme.test", "else.test"),
            f"{NO_DEFAULTS}: the specified API version 'else.test/v1' does not exist in the XRD",
        ),
        ("--xrd xrd.yaml", "[]", "cannot unmarshal XR: error unmarshaling JSON: while decoding JSON: "),
        ("--xrd no.yaml", XR, 'cannot load XRD from "'),
    ],
)
def test_a_failing_patch_is_reported(bench: Bench, words: str, xr: str, sentence: str) -> None:
    result = bench.run(f"xr patch {words}", xr)
    assert result.code == 1
    assert result.last_line.startswith(sentence)


def test_a_file_without_an_end_is_refused(bench: Bench) -> None:
    assert "exceeds the limit" in bench.run("xr generate /dev/zero").last_line
