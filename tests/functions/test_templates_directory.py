"""A directory of Go templates as a function."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, State
from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.functions.binding import TEMPLATES_DIRECTORY, bind, choose_runtime, sources_of
from crossply.functions.failures import RuntimeAnnotationError
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused

TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: {name}
data:
  said: {{{{ .observed.composite.resource.spec.word }}}}
"""
INPUT = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}


def function(**annotations):
    named = {f"crossply.dev/{key}": value for key, value in annotations.items()}
    return {"metadata": {"name": "f", "annotations": named}, "spec": {"package": "r.example.org/f:v1"}}


def new_request(**more):
    return Request(State(Resource({"metadata": {"name": "x"}, "spec": {"word": "hello"}})), **more)


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.tmpl").write_text(TEMPLATE.format(name="one"))
    (tmp_path / "deep" / "two.tmpl").write_text(TEMPLATE.format(name="two"))
    return tmp_path


def test_a_step_without_an_input_renders_the_current_directory_content(directory):
    templates_function = function(templates=str(directory))
    assert choose_runtime(templates_function) == "templates"
    assert sources_of(templates_function)[-1] == str(directory)
    runner = bind(templates_function)
    request = new_request()
    answer = runner(request, 10)
    assert {name: resource.object["data"] for name, resource in answer.desired.resources.items()} == {
        "one": {"said": "hello"},
        "two": {"said": "hello"},
    }
    assert answer.tag.tag == request.tag
    (directory / "one.tmpl").unlink()
    assert set(runner(new_request(), 10).desired.resources) == {"two"}
    runner.close()


def test_a_step_with_an_input_renders_its_own_source(directory):
    function_input = {**INPUT, "inline": {"template": TEMPLATE.format(name="mine").replace("{{{{", "{{")}}
    answer = bind(function(templates=str(directory)))(new_request(input=function_input), 10)
    assert set(answer.desired.resources) == {"mine"}


def test_links_that_lead_out_are_not_followed(directory, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "secret.tmpl"
    outside.write_text("secret")
    (directory / "link.tmpl").symlink_to(outside)
    answer = bind(function(templates=str(directory)))(new_request(), 10)
    assert answer.results[0].severity == SEVERITY_FATAL
    assert "permission denied" in answer.results[0].message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{{ nope }}", "three.tmpl:1: function"),
        ("a\n{{ fail `oh` }}\n", "three.tmpl:2:3: executing"),
        ("a\n\n{{ if }}", "three.tmpl:3: missing value for if"),
    ],
)
def test_an_error_is_reported_with_its_file_and_line(directory, text, place):
    (directory / "later.tmpl").write_text("{{/* the last file but one has no line end */}}")
    (directory / "three.tmpl").write_text(text)
    answer = bind(function(templates=str(directory)))(new_request(), 10)
    assert answer.results[0].severity == SEVERITY_FATAL
    assert f"/{place}" in answer.results[0].message


def test_missing_templates_are_reported(tmp_path):
    answer = bind(function(templates=str(tmp_path / "nothing")))(new_request(), 10)
    assert "no such file or directory" in answer.results[0].message
    with pytest.raises(RuntimeAnnotationError, match="is required"):
        bind(function(runtime="templates"))


def test_a_control_plane_reads_directories_only_where_allowed(directory):
    endpoint = Endpoint("f", "r.example.org/f:v1", annotations=((TEMPLATES_DIRECTORY, str(directory)),))
    with pytest.raises(
        HostAccessRefused, match="names a directory of templates on the control plane's machine"
    ):
        RunnerFactory().open(endpoint, PipelineFunctions())
    factory = RunnerFactory(check_host_access=HostAccess((str(directory),)).check)
    factory.open(endpoint, PipelineFunctions()).close()
