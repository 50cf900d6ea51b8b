"""What `render` prints: the installed command, real files, every flag."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml

from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from tests.support.cli.render_bench import (
    CONFIG_MAP,
    CROSSPLY,
    FILES,
    XR,
    Bench,
    composition,
    config_map_step,
    function,
    patch,
    resources,
    serving,
    step,
    table,
    template,
)

AUTO_READY = "example.com/crossplane-contrib/function-auto-ready:v1"
STILL = "2024-01-01T00:00:00Z"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


EXPECTED = """\
---
apiVersion: example.org/v1
kind: XApp
metadata:
  name: app
  namespace: default
spec:
  crossplane:
    resourceRefs:
    - apiVersion: v1
      kind: ConfigMap
      name: app-950e86fbc7e7
status:
  conditions:
  - lastTransitionTime: "2024-01-01T00:00:00Z"
    reason: WatchCircuitClosed
    status: "True"
    type: Responsive
  - lastTransitionTime: "2024-01-01T00:00:00Z"
    reason: ReconcileSuccess
    status: "True"
    type: Synced
  - lastTransitionTime: "2024-01-01T00:00:00Z"
    message: 'Unready resources: cm'
    reason: Creating
    status: "False"
    type: Ready
---
apiVersion: v1
data:
  size: "3"
kind: ConfigMap
metadata:
  annotations:
    crossplane.io/composition-resource-name: cm
  generateName: app-
  labels:
    crossplane.io/composite: app
  name: app-950e86fbc7e7
  namespace: default
  ownerReferences:
  - apiVersion: example.org/v1
    blockOwnerDeletion: true
    controller: true
    kind: XApp
    name: app
    uid: 254f7216-f047-52a2-8f5a-9625173e3cdd
"""


@pytest.mark.parametrize(
    "command", [("render",), ("composition", "render"), ("beta", "render")], ids=" ".join
)
def test_the_output_is_the_same_to_the_byte_every_time(bench, command) -> None:
    done = bench.run(*FILES, command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == EXPECTED


def test_documents_come_as_xr_then_composed_by_name_then_results_then_context(bench) -> None:
    names = ["zebra", "ant", "mole"]
    bench.write("composition.yaml", composition(step(input=resources(*map(template, names)))))
    shown = bench.render("-r", "-c", "--context-values", 'k={"a":1}')
    assert [document["kind"] for document in shown[:4]] == ["XApp"] + ["ConfigMap"] * 3
    assert [name_in_pipeline(document) for document in shown[1:4]] == sorted(names)
    assert [document["kind"] for document in shown[4:]] == ["Result"] * 4 + ["Context"]
    assert shown[-1]["apiVersion"] == "render.crossplane.io/v1beta1"
    assert shown[-1]["fields"]["k"] == {"a": 1}
    assert shown[4] == {
        "apiVersion": "render.crossplane.io/v1beta1",
        "kind": "Result",
        "message": "Successfully selected composition: app",
        "reason": "SelectComposition",
        "severity": "Normal",
    }


def name_in_pipeline(document):
    return document["metadata"]["annotations"]["crossplane.io/composition-resource-name"]


def test_json_is_one_list_of_the_same_documents(bench) -> None:
    done = bench.run(*FILES, "--output", "json")
    listed = json.loads(done.stdout)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert listed["items"] == bench.render()


def test_the_full_xr_has_its_own_fields_and_over_them_the_desired_ones(bench) -> None:
    refs = [{"apiVersion": "v1", "kind": "Gone", "name": "gone"}]
    xr = {
        **XR,
        "spec": {**XR["spec"], "crossplane": {"compositionRef": {"name": "app"}, "resourceRefs": refs}},
        "status": {"old": 1, "conditions": [{"type": "Mine", "status": "True", "reason": "R"}]},
    }
    bench.write("xr.yaml", xr)
    bench.write("composition.yaml", composition())
    (shown,) = bench.render("-x")
    assert shown["spec"]["size"] == 3
    # A list is replaced, not joined, and an empty one counts.
    assert shown["spec"]["crossplane"] == {"compositionRef": {"name": "app"}, "resourceRefs": []}
    assert shown["status"]["old"] == 1
    assert [c["type"] for c in shown["status"]["conditions"]] == ["Mine", "Responsive", "Synced", "Ready"]
    assert {c["lastTransitionTime"] for c in shown["status"]["conditions"]} == {STILL}


def test_observed_resources_keep_their_names_and_become_ready(bench) -> None:
    bench.write("functions.yaml", function(), function("ready", AUTO_READY))
    bench.write("composition.yaml", composition(config_map_step(), step("ready", "ready")))
    metadata = {"name": "old-name", "namespace": "default", "annotations": {}}
    metadata["annotations"]["crossplane.io/composition-resource-name"] = "cm"
    bench.write("observed/cm.yaml", {**CONFIG_MAP, "metadata": metadata})
    bench.write("observed/deeper/not-read.yaml", "a: [")
    bench.write("observed/readme.txt", "not read either")
    xr, config_map = bench.render("--observed-resources", "observed")
    assert config_map["metadata"]["name"] == "old-name"
    assert xr["status"]["conditions"][-1]["reason"] == "Available"


def asking_for_maps(data, context):
    """Wants all ConfigMaps of team a, and writes the names of what it got into the XR's status."""
    request = RunFunctionRequest.FromString(data)
    reply = RunFunctionResponse()
    selector = reply.requirements.resources["maps"]
    selector.api_version, selector.kind = "v1", "ConfigMap"
    selector.match_labels.labels["team"] = "a"
    names = [r.resource["metadata"]["name"] for r in request.required_resources["maps"].items]
    reply.desired.composite.resource.update({"status": {"found": names}})
    return reply.SerializeToString()


def test_required_resources_come_from_every_file_of_every_flag(bench) -> None:
    def config_map(name, team="a"):
        return {**CONFIG_MAP, "metadata": {"name": name, "labels": {"team": team}}}

    bench.write("one.yaml", config_map("m1"), config_map("other", "b"))
    bench.write("more/two.yml", config_map("m3"))
    bench.write("more/three.yaml", config_map("m2"))
    bench.write("old.yaml", config_map("m0"))
    with serving(asking_for_maps) as address:
        (xr,) = bench.render(
            "-e", "one.yaml", "-e", "more", "--extra-resources", "old.yaml", *remotely(address)
        )
        assert xr["status"]["found"] == ["m0", "m1", "m2", "m3"]


def remotely(address):
    """Flags that send every function to an address."""
    return (
        "-a",
        "render.crossplane.io/runtime=Development",
        "-a",
        f"render.crossplane.io/runtime-development-target={address}",
    )


DEFINITION = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xapps.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "XApp", "plural": "xapps"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "referenceable": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"size": {"type": "integer", "default": 7}},
                            }
                        },
                    }
                },
            }
        ],
    },
}


@table(
    "api_version scope refs",
    ("a definition of version 1 is legacy", "v1", None, ("spec", "resourceRefs")),
    ("a legacy one that says so", "v1", "LegacyCluster", ("spec", "resourceRefs")),
    ("a namespaced one is modern", "v2", "Namespaced", ("spec", "crossplane", "resourceRefs")),
    ("a cluster scoped one is modern", "v2", "Cluster", ("spec", "crossplane", "resourceRefs")),
)
def test_the_definition_gives_defaults_and_the_place_of_references(bench, api_version, scope, refs) -> None:
    spec = {**DEFINITION["spec"], **({"scope": scope} if scope else {})}
    definition = {**DEFINITION, "apiVersion": f"apiextensions.crossplane.io/{api_version}", "spec": spec}
    bench.write("xrd.yaml", definition)
    bench.write("xr.yaml", {**XR, "metadata": {"name": "app"}, "spec": {}})
    value, config_map = bench.render("--xrd", "xrd.yaml")
    for key in refs:
        value = value[key]
    assert value[0]["kind"] == "ConfigMap"
    assert config_map["data"] == {"size": "7"}


def test_context_values_win_over_context_files(bench) -> None:
    bench.write("context.yaml", "a: from the file\n")
    *_, context = bench.render(
        *("--context-files", "k=context.yaml", "--context-files", "l=context.yaml"),
        *("--context-values", "k=[1, two]", "-c"),
    )
    assert context["fields"]["k"] == [1, "two"]
    assert context["fields"]["l"] == {"a": "from the file"}


def test_schemas_are_read_from_a_directory_and_below(bench) -> None:
    def answer(data, context):
        request = RunFunctionRequest.FromString(data)
        reply = RunFunctionResponse()
        reply.requirements.schemas["cm"].api_version = "v1"
        reply.requirements.schemas["cm"].kind = "ConfigMap"
        schema = request.required_schemas["cm"].openapi_v3
        if schema.fields:
            reply.desired.composite.resource.update({"status": {"found": schema["description"]}})
        return reply.SerializeToString()

    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    schema = {"description": "a map", "x-kubernetes-group-version-kind": [kind]}
    document = {"components": {"schemas": {"cm": schema}}}
    bench.write("schemas/deeper/core.json", json.dumps(document))
    with serving(answer) as address:
        xr, *_ = bench.render("-s", "schemas", *remotely(address))
    assert xr["status"]["found"] == "a map"


def test_credentials_match_by_name_and_namespace_and_may_omit_their_kind(bench) -> None:
    credentials = []

    def answer(data, context):
        credentials.append(dict(RunFunctionRequest.FromString(data).credentials["c"].credential_data.data))
        return b""

    credential = {"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "s"}}
    bench.write("composition.yaml", composition(step(credentials=[credential])))
    bench.write("secrets.yaml", {"metadata": {"name": "s", "namespace": "n"}, "data": {"k": "aGk="}})
    assert 'Secret "s" not found' in bench.refusal()
    with serving(answer) as address:
        bench.render("--function-credentials", "secrets.yaml", *remotely(address))
    assert credentials == [{"k": b"hi"}]


@pytest.mark.parametrize("mode", ["Resources", None])
def test_an_older_composition_needs_no_functions_file(bench, mode) -> None:
    cm = template("cm", patch("spec.size", "spec.size"))
    bench.write("composition.yaml", composition(mode=mode, pipeline=None, resources=[cm]))
    done = bench.run("xr.yaml", "composition.yaml")
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(yaml.safe_load_all(done.stdout))[1]["spec"] == {"size": 3}


@pytest.mark.parametrize("version", ["v1alpha1", "v2alpha1"])
def test_the_versions_of_the_designs_are_rendered(bench, version) -> None:
    file = bench.folder / "composition.yaml"
    file.write_text(
        file.read_text().replace("apiextensions.crossplane.io/v1", f"apiextensions.crossplane.io/{version}")
    )
    assert bench.run(*FILES).stdout.decode() == EXPECTED


def test_flags_for_another_engine_are_accepted(bench) -> None:
    words = ("--crossplane-version=v2.3.4", "--crossplane-docker-network=x", "--max-concurrency=3")
    assert bench.run(*FILES, *words).stdout.decode() == EXPECTED


def test_a_reader_that_leaves_early_does_no_harm(bench) -> None:
    templates = [template(f"cm-{number:04}") for number in range(2000)]
    bench.write("composition.yaml", composition(step(input=resources(*templates))))
    command = f"'{CROSSPLY}' render {' '.join(FILES)} | head -1"
    done = subprocess.run(["sh", "-c", command], cwd=bench.folder, capture_output=True, timeout=120)
    assert (done.stdout, done.stderr) == (b"---\n", b"")


def test_nothing_of_a_failed_rendering_is_printed(bench) -> None:
    broken = template("broken", patch("spec.list[", "data.x"))
    bench.write("composition.yaml", composition(config_map_step(), step("second", input=resources(broken))))
    done = bench.run(*FILES, "-r")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b'pipeline step "second" returned a fatal result: ' in done.stderr
