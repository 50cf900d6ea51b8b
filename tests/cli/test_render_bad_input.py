"""Files and arguments that cannot be rendered: an error message, the right exit code, no traceback."""

from __future__ import annotations

import pytest

from tests.support.cli.render_bench import (
    CONFIG_MAP,
    FILES,
    PT,
    XR,
    Bench,
    composition,
    function,
    patch,
    resources,
    step,
    table,
    template,
)

FUNCTION = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Function"}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_the_bench_files_render(bench) -> None:
    xr, config_map = bench.render()
    assert (xr["kind"], config_map["data"]) == ("XApp", {"size": "3"})


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(12)
)
SEVERAL_LEVELS = "".join(" " * depth + "a:\n" for depth in range(3000))
READING = 'cannot load composite resource from "xr.yaml": cannot unmarshal composite resource YAML: '
DECODING = READING + "error unmarshaling JSON: while decoding JSON: "


@table(
    "text sentence",
    ("broken YAML", "a: [", "yaml: line 1: did not find expected node content"),
    ("an empty file", "", DECODING + "Object 'Kind' is missing in 'null'"),
    ("comments only", "# nothing\n", DECODING + "Object 'Kind' is missing in 'null'"),
    ("no kind", "apiVersion: v1\n", DECODING + "Object 'Kind' is missing in '{\"apiVersion\":\"v1\"}'"),
    ("a list", "- a\n", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ("a text", "hello", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
    ("two slashes", "apiVersion: a/b/c\nkind: XApp\n", "Object 'Kind' is missing in"),
    ("another kind", "apiVersion: example.org/v1\nkind: XY\n", "does not match XR's kind (XY)"),
    (
        "a foreign tag",
        "!!python/object:os.system {a: b}\n",
        "Object 'Kind' is missing in '{\"a\":\"b\"}'",
    ),
    ("not a number", "apiVersion: v1\nkind: X\nspec: {a: .nan}\n", "json: unsupported value: NaN"),
    ("bytes that are no UTF-8", b"kind: '\xff\xfe'\n", "yaml: invalid leading UTF-8 octet"),
    ("a NUL byte", b"kind: a\x00b\n", "yaml: control characters are not allowed"),
    ("half a surrogate pair", '{"kind": "\\ud800"}', "found invalid Unicode character escape code"),
    ("100,000 brackets", "[" * 100_000, "exceeded max depth"),
    ("100,000 objects", '{"a":' * 100_000, "exceeded max depth"),
    ("3,000 levels of indentation", SEVERAL_LEVELS, "exceeded max depth"),
    ("aliases that grow to 10^13 nodes", BOMB, "yaml: document contains excessive aliasing"),
)
def test_a_bad_composite_resource(bench, text, sentence) -> None:
    bench.write("xr.yaml", text)
    message = bench.refusal(within=10)
    assert sentence in message.splitlines()[-1]
    assert "crossply: at " in message


@table(
    "size sentence",
    ("a 64 MiB file", 64 << 20, "xr.yaml is larger than 32 MiB"),
    ("a text of 30 MiB, which is legal", 30 << 20, "json: cannot unmarshal string into Go value"),
)
def test_a_huge_file_costs_little(bench, size, sentence) -> None:
    bench.write("xr.yaml", b"x" * size)
    assert sentence in bench.refusal(within=10)


def test_a_stream_without_end_is_not_read_to_its_end(bench) -> None:
    assert "/dev/zero is larger than 32 MiB" in bench.refusal(
        *FILES, "--context-files=k=/dev/zero", within=10
    )


@table(
    "size text",
    ("one more than int64 has is a double", 2**63, "9223372036854776000"),
    ("the largest integer of a double", 2**53, "9007199254740992"),
    ("more than a double has is a text", 10**400, "1" + "0" * 400),
)
def test_huge_numbers_do_no_harm(bench, size, text) -> None:
    bench.write("xr.yaml", {**XR, "spec": {"size": size}})
    _, config_map = bench.render()
    assert str(config_map["data"]["size"]) == text


COMPOSING = 'cannot load Composition from "composition.yaml": '
TYPED = (
    COMPOSING
    + "cannot unmarshal composition resource YAML: error unmarshaling JSON: while decoding JSON: json: "
)


@table(
    "composition_file sentence",
    ("a list", "- a\n", TYPED + "cannot unmarshal array into Go value of type v1.Composition"),
    ("an empty file", "", COMPOSING + "not a composition: /"),
    ("another kind", {"kind": "Foo", "metadata": {"name": "x"}}, COMPOSING + "not a composition: Foo/x"),
    (
        "a text for a spec",
        {**composition(), "spec": "x"},
        TYPED + "cannot unmarshal string into Go struct field Composition.spec of type v1.CompositionSpec",
    ),
    (
        "a text for a step",
        composition("x"),
        TYPED + "cannot unmarshal string into Go struct field CompositionSpec.spec.pipeline of type "
        "v1.PipelineStep",
    ),
    (
        "an object for a step's name",
        composition(step({"a": 1})),
        TYPED + "cannot unmarshal object into Go struct field PipelineStep.spec.pipeline.step of type string",
    ),
    (
        "labels that are no texts, and another kind: the type comes first",
        {"kind": "Foo", "metadata": {"labels": {"a": []}}},
        TYPED + "cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type string",
    ),
    (
        "an unknown mode",
        composition(mode="Fast"),
        'pipelines: Composition "app" must use spec.mode: Pipeline',
    ),
    (
        "a pipeline that does not state its mode: the API server takes it, Crossplane's render does not",
        composition(mode=None),
        'pipelines: Composition "app" must use spec.mode: Pipeline',
    ),
    (
        "an input that is an empty list",
        composition(step(input=[])),
        'cannot unmarshal input for Composition pipeline step "pt": proto: syntax error (line 1:1): '
        "unexpected token [",
    ),
    (
        "an input that is no object",
        composition(step(input="x")),
        'cannot unmarshal input for Composition pipeline step "pt": proto: syntax error (line 1:1): '
        'unexpected token "x"',
    ),
    (
        "a step without a function",
        composition({"step": "pt"}),
        'cannot run Composition pipeline step "pt": unknown function "" - is it listed in the render input?',
    ),
)
def test_a_bad_composition(bench, composition_file, sentence) -> None:
    bench.write("composition.yaml", composition_file)
    assert bench.refusal().splitlines()[-1].endswith(sentence)


FUNCTIONS = 'cannot load functions from "functions.yaml": '
RUNTIME = 'cannot start function runtimes: cannot get runtime for Function "pt": unsupported '


@table(
    "functions sentence",
    (
        "broken YAML",
        "a: [",
        FUNCTIONS + "cannot parse YAML Function manifest: error converting YAML to JSON",
    ),
    ("another kind", {**FUNCTION, "kind": "Provider"}, FUNCTIONS + "not a function: Provider/"),
    ("no API version", {"kind": "Function"}, FUNCTIONS + "not a function: Function/"),
    (
        "a list for a spec",
        {**FUNCTION, "spec": []},
        "json: cannot unmarshal array into Go struct field Function.spec of type v1.FunctionSpec",
    ),
    (
        "an object for an annotation",
        {**FUNCTION, "metadata": {"annotations": {"a": {}}}},
        "json: cannot unmarshal object into Go struct field ObjectMeta.metadata.annotations of type string",
    ),
    (
        "text after a separator",
        "a: b\n--- c: d\n",
        FUNCTIONS + "cannot load YAML stream from file: cannot load YAML stream from file: cannot parse YAML "
        "stream: invalid Yaml document separator: c: d",
    ),
    ("300,000 documents", "---\na: 1\n" * 300_000, "yaml: stream of more than"),
    (
        "a function of another name",
        function("other"),
        'unknown function "pt" - is it listed in the render',
    ),
    ("a function without a name", {**FUNCTION, "spec": {"package": PT}}, 'unknown function "pt"'),
    (
        "an unknown runtime",
        function(render__runtime="Podman"),
        RUNTIME + '"render.crossplane.io/runtime" annotation value "Podman" (unknown runtime)',
    ),
    (
        "an unknown cleanup policy",
        function(render__runtime_docker_cleanup="Burn"),
        RUNTIME + '"render.crossplane.io/runtime-docker-cleanup" annotation value "Burn" '
        "(unknown cleanup policy)",
    ),
    (
        "no command",
        function(crossply__runtime="process"),
        'annotation "crossply.dev/command" is required',
    ),
    (
        "a package that is not built in, with Docker",
        function(package="x/function-y", crossply__runtime="docker"),
        "no container engine answers at",
    ),
    (
        "a package that is not built in, of a registry that is not there",
        function(package="127.0.0.1:1/x/function-y"),
        'package "127.0.0.1:1/x/function-y": Get "https://127.0.0.1:1/v2/": dial tcp',
    ),
)
def test_a_bad_functions_file(bench, functions, sentence) -> None:
    bench.write("functions.yaml", functions)
    assert sentence in bench.refusal(within=15).splitlines()[-1]


@table(
    "labels sentence place",
    ("no label", {}, 'composition "app" is missing required label "tier"', "composition.yaml:3"),
    (
        "another value",
        {"tier": "gold"},
        'composition "app" has incorrect value for label "tier": want "silver", got "gold"',
        "composition.yaml:5",
    ),
)
def test_a_composition_that_is_not_selected(bench, labels, sentence, place) -> None:
    selector = {"crossplane": {"compositionSelector": {"matchLabels": {"tier": "silver"}}}}
    bench.write("xr.yaml", {**XR, "spec": selector})
    bench.write("composition.yaml", {**composition(), "metadata": {"labels": labels, "name": "app"}})
    lines = bench.refusal().splitlines()
    assert lines[-1] == f"crossply: error: {sentence}"
    assert lines[0] == f"crossply: at {place}"


def test_a_secret_of_observed_resources_that_is_no_base64(bench) -> None:
    name = {"crossplane.io/composition-resource-name": "cm"}
    spec = {"writeConnectionSecretToRef": {"name": "details"}}
    bench.write("observed.yaml", {**observed(annotations=name), "spec": spec})
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "details", "namespace": "default"}}
    bench.write("secret.yaml", {**secret, "data": {"a": "?"}})
    message = bench.refusal(*FILES, "-o", "observed.yaml", "-e", "secret.yaml")
    assert 'from Secret "details": illegal base64 data at input byte 0' in message


OBSERVED = {**CONFIG_MAP, "metadata": {"name": "o", "namespace": "default"}}
ALIEN = {"uid": "z", "controller": True, "kind": "XOther", "name": "z", "apiVersion": "example.org/v1"}


def observed(**metadata):
    return {**CONFIG_MAP, "metadata": {**OBSERVED["metadata"], **metadata}}


@table(
    "flag content sentence",
    (
        "not named",
        "-o",
        observed(),
        "cannot get existing composed resources: encountered composed resource",
    ),
    ("elsewhere", "-o", observed(namespace="x"), "resource o is not in the same namespace as the XR"),
    (
        "another's, and elsewhere",
        "-o",
        observed(namespace="x", ownerReferences=[ALIEN]),
        "invalid observed resources: [observed resource o has a controller ref but is not controlled by the "
        "XR, observed resource o is not in the same namespace as the XR]",
    ),
    (
        "broken",
        "-e",
        "a: [",
        'cannot load required resources from "given.yaml": cannot parse YAML resource',
    ),
    ("no kind", "--extra-resources", "a: b\n", "cannot load extra resources from"),
    (
        "no base64",
        "--function-credentials",
        {"data": {"a": "?"}},
        "cannot parse YAML secret manifest: error unmarshaling JSON: while decoding JSON: illegal base64 "
        "data at input byte 0",
    ),
    (
        "a number for bytes",
        "--function-credentials",
        {"data": {"a": 5}},
        "json: cannot unmarshal number into Go struct field Secret.data of type []uint8",
    ),
    ("no JSON", "-s", "nope", 'cannot load required schemas from "given.yaml": no JSON files found in'),
    ("a list", "--xrd", "- a\n", "array into Go value of type v1.CompositeResourceDefinition"),
    ("no version", "--xrd", "", "the specified API version 'example.org/v1' does not exist in the XRD"),
)
def test_a_bad_file_behind_a_flag(bench, flag, content, sentence) -> None:
    bench.write("given.yaml", content)
    assert sentence in bench.refusal(*FILES, flag, "given.yaml").splitlines()[-1]


@table(
    "words code sentence",
    ("no such file", ("-o", "nope"), 1, "cannot open file: open nope: no such file or directory"),
    ("an empty directory", ("-e", "empty"), 1, 'no YAML files found in "empty" (.yaml or .yml)'),
    (
        "no such directory",
        ("-s", "nope"),
        1,
        "cannot walk directory: stat nope: no such file or directory",
    ),
    ("no such XRD", ("--xrd", "nope"), 80, "--xrd: stat nope: no such file or directory"),
    ("no key", ("-a", "nope"), 1, 'invalid function annotation format "nope", expected key=value'),
    ("no value", ("--context-values", "k"), 80, 'expected "<key>=<value>" but got "k"'),
    ("broken JSON", ("--context-values", 'k={"a":'), 1, 'cannot unmarshal context value for key "k"'),
    ("no duration", ("--timeout", "soon"), 80, "--timeout: "),
    ("unknown", ("--nope",), 80, "unknown flag --nope"),
    ("one of two", ("--output", "xml"), 80, "--output must be one of "),
)
def test_a_bad_command_line(bench, words, code, sentence) -> None:
    (bench.folder / "empty").mkdir()
    assert sentence in bench.refusal(*FILES, *words, code=code).splitlines()[-1]


AT = 'cannot render composed resource "cm" "FromCompositeFieldPath" patch at index 0: '
MULTIPLY = {"type": "math", "math": {"type": "Multiply", "multiply": 2}}
CIRCLE = [
    {"name": "a", "patches": [{"type": "PatchSet", "patchSetName": "b"}]},
    {"name": "b", "patches": [{"type": "PatchSet", "patchSetName": "a"}]},
]


@table(
    "patch sentence",
    ("an open bracket", patch("spec.list[", "data.x"), "unterminated '[' at position 9"),
    ("below zero", patch("spec.list[-1]", "data.x"), AT + "spec.list: not an object"),
    (
        "far out",
        patch("spec.size", "data.x[1000000]"),
        "index 1000000 is greater than max allowed index 1024",
    ),
    ("no match", patch("spec.size", "data.x[*].y"), AT + "cannot expand ToFieldPath data.x[*].y"),
    ("a list to multiply", patch("spec.list", "data.x", MULTIPLY), "transform at index 0 returned error"),
    ("no such set", {"type": "PatchSet", "patchSetName": "a"}, "cannot find PatchSet by name a"),
)
def test_a_bad_patch(bench, patch, sentence) -> None:
    bench.write("composition.yaml", composition(step(input=resources(template("cm", patch)))))
    message = bench.refusal().splitlines()[-1]
    assert 'pipeline step "pt" returned a fatal result: ' in message
    assert sentence in message


@pytest.mark.parametrize("mode", ["pipeline", "mode: Resources"])
def test_patch_sets_that_use_one_another(bench, mode) -> None:
    cm = template("cm", {"type": "PatchSet", "patchSetName": "a"})
    native = {"mode": "Resources", "pipeline": None, "resources": [cm], "patchSets": CIRCLE}
    spec = composition(step(input=resources(cm, patchSets=CIRCLE)))
    bench.write("composition.yaml", spec if mode == "pipeline" else composition(**native))
    assert "returned a fatal result: " in bench.refusal(within=10)


def test_a_pattern_that_backtracks_for_ever_elsewhere_is_quick_here(bench) -> None:
    match = {"type": "string", "string": {"type": "Regexp", "regexp": {"match": "(a+)+$"}}}
    bench.write("xr.yaml", {**XR, "spec": {"size": "a" * 100_000 + "b"}})
    bench.write(
        "composition.yaml", composition(step(input=resources(template("cm", patch("spec.size", "x", match)))))
    )
    assert 'regexp "(a+)+$" had no matches' in bench.refusal(within=10)
