"""`xrd generate` and `composition generate` write new files among the APIs of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli.command_files import Bench

PROJECT = """\
# Ours.
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata: {name: p}
spec:
  repository: registry.test/p # the only one
"""
XR = """\
apiVersion: acme.test/v1
kind: Cache
metadata: {name: x, namespace: n}
spec: {size: 3}
"""
AUTO_READY = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: crossplane-contrib-function-auto-ready}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v1}
"""
NOT_LOADED = "failed to create Composition: failed to load XRD"
PLACE = "apis/caches/definition.yaml"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    workbench = Bench(tmp_path, monkeypatch, capsys)
    workbench.write("crossplane-project.yaml", PROJECT)
    workbench.write("xr.yaml", XR)
    return workbench


def test_a_definition_is_written_among_the_apis(bench: Bench) -> None:
    result = bench.run("xrd generate xr.yaml")
    assert result.out == "Created CompositeResourceDefinition (XRD) at caches/definition.yaml\n"
    assert bench.read(PLACE)["metadata"]["name"] == "caches.acme.test"


def test_a_definition_and_its_composition_render(bench: Bench) -> None:
    bench.run("xrd generate xr.yaml")
    assert bench.run(f"composition generate {PLACE}").code == 0
    bench.write("functions.yaml", AUTO_READY)
    rendered = bench.run(f"render xr.yaml apis/caches/composition.yaml functions.yaml --xrd {PLACE}")
    assert rendered.code == 0, rendered.err


def test_a_definition_is_not_overwritten_unless_forced(bench: Bench) -> None:
    bench.run("xrd generate xr.yaml")
    refused = bench.run("xrd generate xr.yaml --plural caches")
    assert refused.last_line == (
        'file "caches/definition.yaml" already exists, use --path to specify a different output path or '
        "--replace to replace the existing file"
    )
    bench.write("xr.yaml", XR.replace("size", "length"))
    assert bench.run("xrd generate xr.yaml --replace").code == 0
    assert "length" in (bench.folder / PLACE).read_text()
    assert bench.run("xrd generate xr.yaml --path other/x.yaml").code == 0
    assert bench.read("apis/other/x.yaml")["kind"] == "CompositeResourceDefinition"


def test_a_simple_schema_is_an_input_too(bench: Bench) -> None:
    bench.write("s.yaml", "apiVersion: acme.test/v1\nkind: Cache\nspec: {size: integer | default=3}\n")
    assert bench.run("xrd generate s.yaml --from simpleschema").code == 0
    assert bench.read(PLACE)["spec"]["scope"] == "Namespaced"


def test_the_project_gains_the_dependencies_that_its_composition_calls(bench: Bench) -> None:
    bench.run("xrd generate xr.yaml")
    result = bench.run(f"composition generate {bench.folder / PLACE} --name aws")
    assert result.err.splitlines() == [
        "Ensuring function-auto-ready dependency...",
        "✓ Ensuring function-auto-ready dependency",
        "Writing Composition...",
        "✓ Writing Composition",
    ]
    written = bench.read("apis/caches/composition-aws.yaml")
    assert written["metadata"]["name"] == "aws.caches.acme.test"
    text = (bench.folder / "crossplane-project.yaml").read_text()
    assert text.startswith("# Ours.\n")
    assert "repository: registry.test/p # the only one\n" in text
    bench.run(f"composition generate {PLACE}")
    assert (bench.folder / "crossplane-project.yaml").read_text() == text, "and is noted once"


def test_a_project_of_up_lists_the_dependency_where_up_does(bench: Bench) -> None:
    (bench.folder / "crossplane-project.yaml").unlink()
    bench.write("upbound.yaml", PROJECT.replace("dev.crossplane.io", "meta.dev.upbound.io"))
    bench.run("xrd generate xr.yaml")
    assert bench.run(f"composition generate {PLACE}").code == 0
    spec = bench.read("upbound.yaml")["spec"]
    assert "dependencies" not in spec, "up does not read it"
    assert [entry["package"].rpartition("/")[2] for entry in spec["dependsOn"]] == ["function-auto-ready"]
    rendered = bench.run("render xr.yaml apis/caches/composition.yaml")
    assert rendered.code == 0, rendered.err


def test_a_composition_is_not_overwritten(bench: Bench) -> None:
    bench.run("xrd generate xr.yaml")
    bench.run(f"composition generate {PLACE}")
    refused = bench.run(f"composition generate {PLACE}")
    assert "✗ Writing Composition\n" in refused.err
    assert refused.last_line == (
        'file "caches/composition.yaml" already exists, use --path to specify a different output path or '
        "delete the existing file"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("xrd generate no.yaml", "failed to read file no.yaml: open {}/no.yaml: no such file or directory"),
        ("xrd generate apis", "failed to read file apis: read {}/apis: is a directory"),
        ("xrd generate /etc/hosts", "file path is outside the project filesystem"),
        (
            "xrd generate xr.yaml --path ../../x.yaml",
            "failed to create directories for the specified output path: mkdir ../..: file does not exist",
        ),
        (
            "xrd generate xr.yaml -f no/p.yaml",
            'failed to read project file "p.yaml": open {}/no/p.yaml: no such file or directory',
        ),
        ("xrd generate xr.yaml -f xr.yaml", 'unsupported project apiVersion "acme.test/v1", expected "dev.'),
        (
            "composition generate no.yaml",
            f"{NOT_LOADED}: failed to read XRD file no.yaml: open {{}}/no.yaml: ",
        ),
        (
            "composition generate bad.yaml",
            f"{NOT_LOADED}: failed to unmarshal XRD: error converting YAML to JSON: yaml: line 1: did not ",
        ),
    ],
)
def test_errors_of_generate_are_reported(bench: Bench, words: str, sentence: str) -> None:
    (bench.folder / "apis").mkdir()
    bench.write("bad.yaml", "a: [")
    result = bench.run(words)
    assert result.code == 1
    assert result.last_line.startswith(sentence.format(bench.folder))
