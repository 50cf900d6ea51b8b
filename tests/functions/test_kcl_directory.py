"""A directory of KCL files as a function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, State
from crossply.functions.binding import KCL_DIRECTORY, bind, choose_runtime, host_uses, sources_of
from crossply.functions.failures import RuntimeAnnotationError
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.functions.kcl_directory import readable_root

pytest.importorskip("kcl_lib")
PROGRAM = """\
import words

items = [{
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata.annotations = {"krm.kcl.dev/composition-resource-name" = "said"}
    data.said = words.greeting(option("params").oxr.spec.word)
}]
"""


def function(**annotations: str) -> dict[str, Any]:
    named = {f"crossply.dev/{key}": value for key, value in annotations.items()}
    return {"metadata": {"name": "f", "annotations": named}, "spec": {"package": "r.example.org/f:v1"}}


def request(**more: Any) -> Request:
    return Request(State(Resource({"metadata": {"name": "x"}, "spec": {"word": "hello"}})), **more)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "main.k").write_text(PROGRAM)
    (tmp_path / "words.k").write_text(
        'greeting = lambda word: str -> str {\n    "{} there".format(word)\n}\n'
    )
    (tmp_path / "kcl.mod").write_text('[package]\nname = "f"\n')
    return tmp_path


def output_of(answer: Any) -> str:
    assert answer.results == (), answer.results
    return str(answer.desired.resources["said"].object["data"]["said"])


def test_a_step_without_an_input_runs_the_module_as_it_is_now(directory: Path) -> None:
    kcl_function = function(kcl=str(directory))
    assert choose_runtime(kcl_function) == "kcl"
    assert sources_of(kcl_function)[-1] == str(directory)
    runner = bind(kcl_function)
    assert output_of(runner(request(), 10)) == "hello there"
    (directory / "words.k").write_text('greeting = lambda word: str -> str {\n    "{} you".format(word)\n}\n')
    assert output_of(runner(request(), 10)) == "hello you"
    runner.close()


def test_a_step_may_have_a_source_of_its_own(directory: Path) -> None:
    own = {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": "items = []"}}
    assert bind(function(kcl=str(directory)))(request(input=own), 10).desired.resources == {}


def test_a_module_may_depend_on_others_of_its_project_only(directory: Path, tmp_path: Path) -> None:
    module = tmp_path / "functions" / "f"
    module.mkdir(parents=True)
    (module / "kcl.mod").write_text('[package]\nname = "f"\n[dependencies]\nlib = { path = "../../lib" }\n')
    (module / "main.k").write_text(PROGRAM.replace("import words", "import lib as words"))
    (tmp_path / "lib").mkdir()
    (directory / "words.k").rename(tmp_path / "lib" / "words.k")
    runner = bind(function(kcl=str(module)))
    [refusal] = runner(request(), 10).results
    assert (refusal.severity, "permission denied" in refusal.message) == (SEVERITY_FATAL, True)
    (tmp_path / "upbound.yaml").write_text("")
    assert readable_root(str(module)) == str(tmp_path)
    assert output_of(runner(request(), 10)) == "hello there"


def test_missing_models_give_a_hint_to_generate_them(directory: Path) -> None:
    (directory / "main.k").write_text("import models.io.acme.v1 as acme\nitems = [acme.Lamp{}]\n")
    [result] = bind(function(kcl=str(directory)))(request(), 10).results
    assert "crossply dependency update-cache" in result.message


def test_models_of_which_a_package_is_missing_give_the_same_hint(directory: Path) -> None:
    (directory / "upbound.yaml").write_text("")
    (directory / "models" / "io" / "mine").mkdir(parents=True)
    (directory / "models" / "kcl.mod").write_text('[package]\nname = "models"\n')
    (directory / "models" / "io" / "mine" / "thing.k").write_text("schema Thing:\n    size?: int\n")
    module = directory / "functions" / "f"
    module.mkdir(parents=True)
    (module / "kcl.mod").write_text(
        '[package]\nname = "f"\n[dependencies]\nmodels = { path = "../../models" }\n'
    )
    (module / "main.k").write_text("import models.io.acme.v1 as acme\nitems = [acme.Lamp{}]\n")
    [result] = bind(function(kcl=str(module)))(request(), 10).results
    assert "attribute 'Lamp' not found" in result.message
    assert "crossply dependency update-cache" in result.message


def test_models_are_where_the_project_file_has_them_if_the_link_is_missing(directory: Path) -> None:
    project = "apiVersion: dev.crossplane.io/v1alpha1\nkind: Project\nmetadata: {name: p}\n"
    spec = "spec: {repository: r.example.org/p, paths: {schemas: generated}}\n"
    (directory / "crossplane-project.yaml").write_text(project + spec)
    module = directory / "functions" / "f"
    module.mkdir(parents=True)
    (module / "kcl.mod").write_text('[package]\nname = "f"\n[dependencies]\nmodels = { path = "./model" }\n')
    (module / "main.k").write_text(PROGRAM.replace("import words", "import models.org.words as words"))
    runner = bind(function(kcl=str(module)))
    [result] = runner(request(), 10).results
    assert "there is no directory ./model" in result.message, "no models are generated yet"
    (directory / "generated" / "kcl" / "org").mkdir(parents=True)
    (directory / "words.k").rename(directory / "generated" / "kcl" / "org" / "words.k")
    assert output_of(runner(request(), 10)) == "hello there"


def test_a_control_plane_reads_it_only_where_its_operator_allows_the_project(directory: Path) -> None:
    (directory / "upbound.yaml").write_text("")
    inner = directory / "functions" / "f"
    inner.mkdir(parents=True)
    kcl_function = function(kcl=str(inner))
    [use] = host_uses(kcl_function)
    assert (use.annotation, use.path) == (KCL_DIRECTORY, str(directory))
    HostAccess((str(directory),)).check(kcl_function)
    with pytest.raises(HostAccessRefused):
        HostAccess((str(inner),)).check(kcl_function)


def test_a_missing_directory_is_reported() -> None:
    with pytest.raises(RuntimeAnnotationError, match=r'annotation "crossply\.dev/kcl" is required'):
        bind(function(runtime="kcl"))
