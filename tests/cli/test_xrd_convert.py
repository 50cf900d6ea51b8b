"""`xrd convert` reads one definition and writes CRDs or JSON Schemas."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from crossply.cli.main import main
from crossply.values.yaml import read_stream

XRD = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xcaches.acme.test}
spec:
  group: acme.test
  names: {kind: XCache, plural: xcaches}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema: {type: object}
"""
CLAIMED = XRD + "  claimNames: {kind: Cache, plural: caches}\n"
BARE = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
spec: {versions: [{}]}
"""
TEMPLATE = """\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructureDefinition
metadata: {name: queues.acme.test}
spec:
  crdSpecTemplate:
    group: acme.test
    version: v1
    names: {kind: Queue, plural: queues}
    validation: {openAPIV3Schema: {type: object}}
---
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: InfrastructurePublication
metadata: {name: queues.acme.test}
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.splitlines()[-1].removeprefix("crossply: error: ")


class Convert(Protocol):
    def __call__(self, text: str, *words: str) -> Result: ...


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Convert:
    """Run the command on a text given on standard input."""

    def run(text: str, *words: str) -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = main(["xrd", "convert", *words])
        return Result(code, *capsys.readouterr())

    return run


def names(text: str) -> list[str]:
    return [document.value["metadata"]["name"] for document in read_stream(text)]


def test_the_crds_go_to_stdout(convert: Convert) -> None:
    assert names(convert(XRD).out) == ["xcaches.acme.test"]
    assert names(convert(CLAIMED, "-").out) == ["xcaches.acme.test", "caches.acme.test"]


def test_only_the_first_document_is_converted(convert: Convert) -> None:
    assert names(convert(XRD + "---\nnot: read\n").out) == ["xcaches.acme.test"]


def test_a_publication_in_the_same_file_adds_its_requirement(convert: Convert) -> None:
    assert names(convert(TEMPLATE).out) == ["queues.acme.test", "queuerequirements.acme.test"]


def test_the_crds_go_to_one_file_or_to_one_file_per_crd(convert: Convert, tmp_path: Path) -> None:
    assert convert(CLAIMED, "-o", str(tmp_path / "all.yaml")).out == ""
    assert names((tmp_path / "all.yaml").read_text()) == ["xcaches.acme.test", "caches.acme.test"]
    convert(CLAIMED, "--output-dir", str(tmp_path / "a" / "b"))
    written = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert written == ["caches.acme.test.yaml", "xcaches.acme.test.yaml"]


def test_a_file_and_a_directory_cannot_both_be_the_output(convert: Convert, tmp_path: Path) -> None:
    result = convert(XRD, "-o", str(tmp_path / "f"), "--output-dir", str(tmp_path / "d"))
    assert result.code == 80
    assert list(tmp_path.iterdir()) == []


def test_json_schemas_need_a_directory_when_there_are_several(convert: Convert, tmp_path: Path) -> None:
    assert convert(XRD, "--format=jsonschema").out.startswith('{\n  "$id": "acme.test/v1/xcache.json",\n')
    refused = convert(CLAIMED, "--format=jsonschema")
    assert refused.code == 1
    assert refused.last_line == (
        "cannot write 2 JSON Schemas to a single output; use --output-dir to write one file per schema"
    )
    convert(CLAIMED, "--format=jsonschema", "--output-dir", str(tmp_path))
    assert (tmp_path / "acme.test_v1_cache.json").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: [",
            "cannot unmarshal XRD: error converting YAML to JSON: yaml: line 1: did not find expected node",
        ),
        (
            "spec: x",
            "cannot unmarshal XRD: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal",
        ),
        ("", "; got /, Kind="),
        (
            BARE,
            'cannot derive CRDs from XRD "": cannot generate CRD for "Composite Resource" "": custom ',
        ),
        ("{apiVersion: v1, kind: Pod}", "; got /v1, Kind=Pod"),
        ("{apiVersion: a/b/c, kind: Pod}", "; got /, Kind=Pod"),
        (
            XRD.replace("{type: object}", "{type: []}"),
            'cannot derive CRDs from XRD "xcaches.acme.test": cannot ',
        ),
    ],
)
def test_an_unconvertible_composition_is_reported(convert: Convert, text: str, message: str) -> None:
    result = convert(text)
    assert result.code == 1
    assert message in result.last_line


def test_files_that_cannot_be_read_or_written_are_reported(convert: Convert, tmp_path: Path) -> None:
    here = str(tmp_path)
    (tmp_path / "file").write_text("")
    no_such = "no such file or directory"
    assert convert(XRD, f"{here}/no").last_line == f"Unable to read inputFile: open {here}/no: {no_such}"
    assert convert(XRD, here).last_line == f"Unable to read inputFile: read {here}: is a directory"
    unwritable = convert(XRD, "-o", f"{here}/no/x").last_line
    assert unwritable == f'cannot write output file "{here}/no/x": open {here}/no/x: {no_such}'
    message = convert(XRD, "--output-dir", f"{here}/file").last_line
    assert message == f'cannot create output directory "{here}/file": mkdir {here}/file: not a directory'
