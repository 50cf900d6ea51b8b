"""Where the templates come from, and what is wrong with an input that leads to none."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.go_templating.function import run


def request(function_input, context=None):
    """A request with an input of its own."""
    xr = Resource({"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}})
    return Request(State(xr), input=function_input, context=context, tag="t")


def manifest(name="a"):
    """A composed resource."""
    mark = f"gotemplating.fn.crossplane.io/composition-resource-name: {name}"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    {mark}\n"


def message(response):
    """The text of the one result."""
    (result,) = response.results
    return result.message


INLINE = {"source": "Inline", "inline": {"template": manifest()}}

UNREADABLE = (
    "cannot get Function input from *v1.RunFunctionRequest: cannot get function input *v1beta1.GoTemplate "
    "from *v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.GoTemplate: "
)
INPUTS = [
    (
        {"ttl": 5},
        f"{UNREADABLE}json: cannot unmarshal JSON number into Go value of type string",
    ),
    (
        {"metadata": {"nope": 1}},
        f'{UNREADABLE}json: cannot unmarshal Go value of type v1.ObjectMeta: unknown name "nope"',
    ),
    (
        {"metadata": {"labels": {"a": 1}}},
        f"{UNREADABLE}json: cannot unmarshal JSON number into Go value of type string",
    ),
    (
        {"metadata": {"generation": 1.5}},
        f"{UNREADABLE}json: cannot unmarshal JSON number into Go value of type int64: "
        'cannot parse "1.5" as signed integer: invalid syntax',
    ),
    (
        {"metadata": {"creationTimestamp": "now"}},
        f"{UNREADABLE}json: cannot unmarshal JSON string into Go value of type v1.Time: "
        'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
    ),
    ({"source": ""}, "invalid function input: source is required"),
    ({"source": "Web"}, "invalid function input: invalid source: Web"),
    ({"inline": {}}, "invalid function input: inline.template or inline.templates should be provided"),
    ({"source": "Environment"}, "invalid function input: environment.key should be provided"),
    (
        {"source": "Environment", "environment": {"key": "k"}},
        "invalid function input: cannot read tmpl from the "
        "environment: apiextensions.crossplane.io/environment key does not exist in context",
    ),
    ({"source": "FileSystem"}, "invalid function input: fileSystem.dirPath should be provided"),
    (
        {"source": "FileSystem", "fileSystem": {"dirPath": "/no/such"}},
        "invalid function input: cannot read tmpl from "
        "the folder {/no/such}: open /no/such: no such file or directory",
    ),
    (
        {"options": ["zzz"]},
        "cannot apply template options: panic occurred while applying template options: "
        "unrecognized option: zzz",
    ),
    (
        {"nope": 1},
        f'{UNREADABLE}json: cannot unmarshal Go value of type v1beta1.GoTemplate: unknown name "nope"',
    ),
]


@pytest.mark.parametrize(("function_input", "expected"), INPUTS)
def test_input_that_makes_no_sense_is_a_fatal_result(function_input, expected):
    assert message(run(request(INLINE | function_input))) == expected


def test_several_inline_templates_are_joined_and_delimiters_can_be_others():
    step_input = {
        "source": "Inline",
        "inline": {"templates": [manifest("a"), manifest("[[ `b` ]]")]},
        "delims": {"left": "[[", "right": "]]"},
    }
    assert list(run(request(step_input)).desired.resources) == ["a", "b"]


def test_templates_can_come_from_the_environment():
    context = {"apiextensions.crossplane.io/environment": {"tpl": manifest("e")}}
    step_input = {"source": "Environment", "environment": {"key": "tpl"}}
    assert list(run(request(step_input, context)).desired.resources) == ["e"]


def test_a_directory_is_read_in_the_order_of_names_and_not_when_it_is_hidden(tmp_path, monkeypatch):
    for name in ("a", "m/x", ".h/y", "z"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(manifest(name))
    monkeypatch.setenv("CROSSPLY_TEMPLATES", str(tmp_path))

    def names(path):
        step_input = {"source": "FileSystem", "fileSystem": {"dirPath": str(path)}}
        return list(run(request(step_input)).desired.resources)

    assert names(tmp_path) == ["a", "m/x", "z"]
    assert names(f"{tmp_path}/m/") == ["m/x"]
    assert names(tmp_path / ".h") == []


def test_templates_are_read_only_below_the_allowed_directories(tmp_path, monkeypatch):
    allowed = tmp_path / "templates"
    (allowed / "sub").mkdir(parents=True)
    (allowed / "b.yaml").write_text(manifest("b"))
    (allowed / "sub" / "a.yaml").write_text(manifest("a"))
    (allowed / ".hidden.yaml").write_text("{{ nope }}")
    step_input = {"source": "FileSystem", "fileSystem": {"dirPath": str(allowed)}}
    assert "permission denied" in message(run(request(step_input)))
    monkeypatch.setenv("CROSSPLY_TEMPLATES", str(allowed))
    assert list(run(request(step_input)).desired.resources) == ["b", "a"]
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    (allowed / "link.yaml").symlink_to(secret)
    assert "s3cret" not in message(run(request(step_input)))
    outside = {"source": "FileSystem", "fileSystem": {"dirPath": f"{allowed}/../secret"}}
    assert "permission denied" in message(run(request(outside)))
