"""`resource validate` reports invalid resources in the words of Crossplane."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from crossply.cli.main import main
from crossply.manifests.manifest import files_below
from crossply.values.yaml import dump, dump_all, load

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "lamps.acme.test"},
    "spec": {
        "group": "acme.test",
        "names": {"kind": "Lamp", "plural": "lamps"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["colour"],
                                "properties": {
                                    "colour": {"type": "string"},
                                    "watts": {"type": "integer", "default": 5},
                                },
                                "x-kubernetes-validations": [
                                    {"rule": "self.watts < 100", "message": "too bright"}
                                ],
                            }
                        },
                    }
                },
            }
        ],
    },
}
XRD = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xlamps.acme.test"},
    "spec": {
        "group": "acme.test",
        "names": {"kind": "XLamp", "plural": "xlamps"},
        "claimNames": {"kind": "LampClaim", "plural": "lampclaims"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "referenceable": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }
        ],
    },
}


def lamp(name: str = "one", kind: str = "Lamp", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "acme.test/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


class Shell:
    """Runs `validate` in a directory of its own."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory, self._capsys = directory, capsys

    def write(self, name: str, *objects: dict[str, Any]) -> str:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump(objects[0]) if len(objects) == 1 else dump_all(objects))
        return str(path)

    def validate(self, *words: str) -> tuple[int, str, str]:
        cache = ("--cache-dir", str(self.directory / "cache"))
        code = main(["resource", "validate", *words, *cache])
        out, err = self._capsys.readouterr()
        return code, out, err.splitlines()[-1] if err else ""


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shell(tmp_path, capsys)


def test_every_resource_gets_its_line(shell):
    crd = shell.write("crd.yaml", CRD)
    resources = shell.write(
        "r.yaml",
        lamp(colour="red"),
        lamp("two", colour=1, odd=2),
        lamp("three", colour="", watts=200),
        lamp(kind="Bulb"),
    )
    code, out, err = shell.validate(crd, resources)
    assert code == 1
    assert err == "crossply: error: could not validate all resources"
    assert out.splitlines() == [
        "[✓] acme.test/v1, Kind=Lamp, one validated successfully",
        "[x] schema validation error acme.test/v1, Kind=Lamp, two : spec.colour: Invalid value: "
        '"number": spec.colour in body must be of type string: "number"',
        "[x] schema validation error acme.test/v1, Kind=Lamp, two : spec.odd: Invalid value: "
        '"odd": unknown field: "odd"',
        "[x] CEL validation error acme.test/v1, Kind=Lamp, three : spec: Invalid value: too bright",
        "[!] could not find CRD/XRD for: acme.test/v1, Kind=Bulb",
        "Total 4 resources: 1 missing schemas, 1 success cases, 2 failure cases",
    ]


def test_the_command_knows_no_int32_though_api_servers_do(shell):
    crd = json.loads(json.dumps(CRD))
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["hours"] = {"type": "integer", "format": "int32"}
    resources = shell.write("r.yaml", lamp(colour="red", hours=3_000_000_000))
    assert shell.validate(shell.write("crd.yaml", crd), resources)[0] == 0


def test_missing_schemas_fail_only_with_the_flag(shell):
    crd, resources = shell.write("crd.yaml", CRD), shell.write("r.yaml", lamp(kind="Bulb"))
    assert shell.validate(crd, resources)[0] == 0
    code, _, err = shell.validate(crd, resources, "--error-on-missing-schemas")
    assert (code, err) == (1, "crossply: error: could not validate all resources, schema(s) missing")


def test_success_can_be_left_out(shell):
    crd, resources = shell.write("crd.yaml", CRD), shell.write("r.yaml", lamp(colour="red"))
    _, out, _ = shell.validate(crd, resources, "--skip-success-results")
    assert out == "Total 1 resources: 0 missing schemas, 1 success cases, 0 failure cases\n"


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", load)])
def test_json_and_yaml_carry_the_same_facts(shell, form, read):
    crd, resources = shell.write("crd.yaml", CRD), shell.write("r.yaml", lamp(watts=200))
    _, out, _ = shell.validate(crd, resources, "-o", form)
    report = read(out)
    assert report["summary"] == {"total": 1, "valid": 0, "invalid": 1, "missingSchemas": 0}
    assert report["resources"][0]["errors"] == [
        {"type": "schema", "field": "spec.colour", "message": "spec.colour: Required value", "value": ""},
        {"type": "cel", "field": "spec", "message": "spec: Invalid value: too bright", "value": {}},
    ]


def test_an_unknown_output_format_is_a_usage_error(shell):
    code, _, err = shell.validate("a", "b", "-o", "xml")
    assert (code, err) == (80, 'crossply: error: --output: unknown output format: "xml"')


def test_locations_are_shown_on_request(shell):
    crd = shell.write("crd.yaml", CRD)
    path = shell.directory / "r.yaml"
    path.write_text(
        "# a comment\napiVersion: acme.test/v1\nkind: Lamp\nmetadata: {name: a}\n"
        "spec:\n  colour: x\n  watts: many\n"
    )
    _, out, _ = shell.validate(crd, "r.yaml", "--show-locations")
    assert out.splitlines()[1] == "    at r.yaml:7"
    _, out, _ = shell.validate(crd, "r.yaml", "--show-locations", "-o", "json")
    assert json.loads(out)["resources"][0]["errors"][0]["place"] == "r.yaml:7"


def test_a_missing_field_is_located_at_its_parent(shell):
    crd = shell.write("crd.yaml", CRD)
    (shell.directory / "r.yaml").write_text("apiVersion: acme.test/v1\nkind: Lamp\nspec:\n  watts: 1\n")
    _, out, _ = shell.validate(crd, "r.yaml", "--show-locations")
    assert out.splitlines()[1] in ("    at r.yaml:3", "    at r.yaml:4")


def test_a_definition_defines_the_xr_and_its_claim(shell):
    xrd = shell.write("xrd.yaml", XRD)
    resources = shell.write("r.yaml", lamp(kind="XLamp"), lamp(kind="LampClaim", odd=1))
    code, out, _ = shell.validate(xrd, resources)
    assert code == 1
    assert "[✓] acme.test/v1, Kind=XLamp, one validated" in out
    assert 'Kind=LampClaim, one : spec.odd: Invalid value: "odd"' in out


def test_sources_are_files_directories_lists_and_stdin(shell, monkeypatch):
    shell.write("defs/deep/crd.yaml", CRD)
    xrd = shell.write("xrd.yml", XRD)
    text = dump_all([lamp(colour="red"), lamp(kind="XLamp")]).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    code, out, _ = shell.validate(f"defs,{xrd}", "-")
    assert (code, out.splitlines()[-1][:17]) == (0, "Total 2 resources")


@pytest.mark.parametrize(
    ("extensions", "expected"),
    [
        ("-", "cannot use stdin for both extensions and resources"),
        (
            "no.yaml",
            'cannot load extensions from "no.yaml": cannot stat input source: stat no.yaml: '
            "no such file or directory",
        ),
    ],
)
def test_sources_that_cannot_be_read(shell, extensions, expected):
    assert shell.validate(extensions, "-")[2] == f"crossply: error: {expected}"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (
            "r.yaml",
            "cannot parse YAML manifest: error unmarshaling JSON: while decoding JSON: Object 'Kind' is ",
        ),
        ("bad.yaml", "cannot parse YAML manifest: error converting YAML to JSON: yaml: line 1: "),
        ("crd.yaml,no", 'cannot create loader for "no": cannot stat input source: stat no: no such file'),
        ("crd.yaml,r.yaml", "cannot load source at position 1: cannot parse YAML manifest: "),
    ],
)
def test_sources_that_do_not_hold_objects_are_refused(shell, sources, expected):
    shell.write("crd.yaml", CRD)
    (shell.directory / "r.yaml").write_text("a: b\n")
    (shell.directory / "bad.yaml").write_text("{a: [\n")
    _, _, err = shell.validate(sources, "crd.yaml")
    assert err.startswith(f'crossply: error: cannot load extensions from "{sources}": {expected}')


def test_an_input_without_a_kind_has_no_schema(shell):
    step = {"step": "a", "functionRef": {"name": "f"}, "input": {"text": "x"}}
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "spec": {"pipeline": [step]},
    }
    _, out, _ = shell.validate(shell.write("e.yaml", CRD), shell.write("r.yaml", composition))
    assert out.splitlines()[0] == "[!] could not find CRD/XRD for: , Kind="


PACKAGE = "registry.acme.test/acme/lamps:v1"


def test_the_schemas_of_a_package_come_from_the_cache(shell):
    provider = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "spec": {"package": PACKAGE}}
    ext, resources = shell.write("e.yaml", provider), shell.write("r.yaml", lamp(colour=1))
    code, _, err = shell.validate(ext, resources)
    assert code == 1
    error = err.splitlines()[-1]
    assert f"cannot download package {PACKAGE}: " in error
    assert "registry.acme.test" in error.partition(f"{PACKAGE}: ")[2], "the reason is part of the error"
    shell.write("cache/registry.acme.test/acme/lamps@v1/package.yaml", CRD)
    assert "spec.colour: Invalid value" in shell.validate(ext, resources)[1]
    assert f"cannot download package {PACKAGE}: " in shell.validate(ext, resources, "--clean-cache")[2]


def test_a_configuration_brings_its_dependencies(shell):
    meta = {
        "apiVersion": "meta.pkg.crossplane.io/v1",
        "kind": "Configuration",
        "metadata": {"name": "c"},
        "spec": {"dependsOn": [{"provider": "registry.acme.test/acme/lamps", "version": "v1"}]},
    }
    shell.write("cache/registry.acme.test/acme/all@v2/package.yaml", meta, XRD)
    shell.write("cache/registry.acme.test/acme/lamps@v1/package.yaml", CRD)
    image = "registry.acme.test/acme/all:v2"
    configuration = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Configuration",
        "spec": {"package": image},
    }
    ext = shell.write("e.yaml", configuration)
    code, out, _ = shell.validate(ext, shell.write("r.yaml", lamp(colour="red"), lamp(kind="XLamp")))
    assert (code, out.count("validated successfully")) == (0, 2)


def test_a_package_name_cannot_leave_the_cache(shell):
    provider = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "spec": {"package": "../outside"}}
    shell.write("outside/package.yaml", CRD)
    assert shell.validate(shell.write("e.yaml", provider), shell.write("r.yaml", lamp()))[0] == 1


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": 5},
            "cannot unmarshal CRD YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal",
        ),
        ({"items": [{}]}, "OpenAPIV3Schema 'items' must be a schema, but is an array"),
        ({"properties": {"spec": None}}, ""),
    ],
)
def test_a_crd_whose_schema_is_odd_is_an_error_or_works_but_never_crashes(shell, schema, expected):
    odd = json.loads(json.dumps(CRD))
    odd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    _, _, err = shell.validate(shell.write("e.yaml", odd), shell.write("r.yaml", lamp()))
    assert expected in err
    assert "internal error" not in err


def test_inputs_of_a_pipeline_are_validated_by_their_own_kind(shell):
    step = {"step": "a", "functionRef": {"name": "f"}, "input": lamp("inside", colour=5)}
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "c"},
        "spec": {"mode": "Pipeline", "pipeline": [step]},
    }
    crd, resources = shell.write("e.yaml", CRD), shell.write("r.yaml", composition)
    _, out, _ = shell.validate(crd, resources, "--show-locations")
    lines = out.splitlines()
    assert lines[0].startswith("[x] schema validation error acme.test/v1, Kind=Lamp, inside : spec.colour")
    number = int(lines[1].rpartition(":")[2])
    assert "colour" in Path(resources).read_text().splitlines()[number - 1]


def test_definitions_of_the_first_design_are_understood(shell):
    template = {
        "group": "acme.test",
        "version": "v1",
        "names": {"kind": "Queue", "listKind": "QueueList", "plural": "queues", "singular": "queue"},
        "validation": {"openAPIV3Schema": {"type": "object", "properties": {"depth": {"type": "integer"}}}},
    }
    definition = {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "InfrastructureDefinition",
        "metadata": {"name": "queues.acme.test"},
        "spec": {"crdSpecTemplate": template},
    }
    publication = {
        **definition,
        "kind": "InfrastructurePublication",
        "spec": {"infrastructureDefinitionReference": {"name": "queues.acme.test"}},
    }
    ext = shell.write("e.yaml", publication, definition)
    result = shell.validate(
        ext, shell.write("r.yaml", lamp(kind="Queue", depth="x"), lamp(kind="QueueRequirement"))
    )
    assert "Kind=Queue, one : spec.depth: Invalid value" in result[1]
    assert "[✓] acme.test/v1, Kind=QueueRequirement, one validated" in result[1]


def test_a_pipe_in_a_directory_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    os.mkfifo(tmp_path / "b.yaml")
    assert files_below(str(tmp_path)) == [str(tmp_path / "a.yaml")]


def test_colours_repeat_the_meaning_of_the_signs(shell):
    crd = shell.write("crd.yaml", CRD)
    resources = shell.write("r.yaml", lamp(colour="red"), lamp("two", colour=1), lamp(kind="Bulb"))
    _, plain, _ = shell.validate(crd, resources)
    _, colored, _ = shell.validate(crd, resources, "--color=always")
    assert [line.split()[0] for line in colored.splitlines()] == [
        "\x1b[32m[✓]\x1b[0m",
        "\x1b[31m[x]\x1b[0m",
        "\x1b[33m[!]\x1b[0m",
        "\x1b[1mTotal",
    ]
    assert re.sub("\x1b\\[[0-9]*m", "", colored) == plain
