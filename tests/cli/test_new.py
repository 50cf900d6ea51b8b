"""`crossply new`: whatever it makes works, and passes its test at once."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
import yaml

from crossply.cli.main import main

BIN = pathlib.Path(sys.executable).parent
EXAMPLE = """\
apiVersion: acme.io/v1
kind: Cache
metadata: {name: c, namespace: d}
spec: {size: 3, engine: redis, deep: {list: [1, 2]}, class: x}
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Crossply = Callable[..., Result]


@pytest.fixture
def crossply(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Crossply:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Result:
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        assert "internal error" not in captured.err
        return Result(code, captured.out, captured.err)

    return run


def worked(result: Result) -> str:
    assert (result.code, result.err) == (0, ""), result.err + result.out
    return result.out


def test_a_project_passes_its_test_validates_its_example_and_can_be_packed(
    crossply: Crossply, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = worked(crossply("new", "project", "platform", "--group=acme.io", "--kind=Policy"))
    assert "next:\n  cd platform\n  crossply test\n  crossply validate apis/policies examples\n" in output
    monkeypatch.chdir("platform")
    assert "3 passed" in worked(crossply("test"))
    assert "1 success cases, 0 failure cases" in worked(crossply("validate", "apis/policies", "examples"))
    worked(crossply("xpkg", "build", "-f", "apis", "-e", "examples", "-o", "p.xpkg"))
    assert os.path.getsize("p.xpkg")
    worked(crossply("render", "examples/policy.yaml", "apis/policies/composition.yaml", "functions.yaml"))


def test_the_tools_for_projects_accept_it(crossply: Crossply, monkeypatch: pytest.MonkeyPatch) -> None:
    worked(crossply("new", "project", "platform"))
    monkeypatch.chdir("platform")
    pathlib.Path("examples/cache.yaml").write_text(EXAMPLE)
    worked(crossply("xrd", "generate", "examples/cache.yaml"))
    assert os.path.exists("apis/caches/definition.yaml")


def test_nothing_is_overwritten_without_force(crossply: Crossply) -> None:
    os.makedirs("platform/tests")
    pathlib.Path("platform/README.md").write_text("mine")
    result = crossply("new", "project", "platform")
    assert result.code == 1
    assert "will not write over platform/README.md\n" in result.err
    assert "--force" in result.err
    assert sorted(os.listdir("platform")) == ["README.md", "tests"], "nothing of it was written"
    assert pathlib.Path("platform/README.md").read_text() == "mine"
    worked(crossply("new", "project", "platform", "--force"))
    assert pathlib.Path("platform/README.md").read_text() != "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("project", "Has Spaces"),
        ("project", "../up"),
        ("project", "ok", "--group=none"),
        ("project", "ok", "--kind=lower"),
        ("function", "-x"),
        ("function", "a/b"),
        ("function", "x" * 64),
        ("xrd", "nowhere.yaml"),
    ],
)
def test_names_that_cannot_be_are_refused(crossply: Crossply, words: tuple[str, ...]) -> None:
    assert crossply("new", *words).code == 80
    assert os.listdir() == []


def test_a_definition_fits_its_example(crossply: Crossply) -> None:
    pathlib.Path("ex.yaml").write_text(EXAMPLE)
    output = worked(crossply("new", "xrd", "ex.yaml"))
    assert "crossply validate definition.yaml ex.yaml" in output
    assert "1 success cases" in worked(crossply("validate", "definition.yaml", "ex.yaml"))
    worked(crossply("xrd", "convert", "definition.yaml"))


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_a_composition_passes_its_test(crossply: Crossply, scope: str) -> None:
    pathlib.Path("ex.yaml").write_text(EXAMPLE)
    worked(crossply("new", "xrd", "ex.yaml", "-o", "apis/definition.yaml"))
    definition = pathlib.Path("apis/definition.yaml")
    definition.write_text(definition.read_text().replace("scope: Namespaced", f"scope: {scope}"))
    worked(crossply("new", "composition", "apis/definition.yaml"))
    output = worked(crossply("test"))
    assert "1 passed" in output
    assert "2 of 2 steps, 1 of 1 resources" in output
    expected = yaml.safe_load(pathlib.Path("apis/composition_test.yaml").read_text())
    data = expected["spec"]["cases"][0]["rounds"][0]["expect"]["resources"][0]["object"]["data"]
    assert data == {"name": "example", "size": "1", "engine": "example", "class": "example"}


def test_a_composition_for_a_definition_of_an_older_form(crossply: Crossply) -> None:
    pathlib.Path("ex.yaml").write_text(EXAMPLE)
    worked(crossply("new", "xrd", "ex.yaml"))
    definition = yaml.safe_load(pathlib.Path("definition.yaml").read_text())
    definition["apiVersion"] = "apiextensions.crossplane.io/v1"
    del definition["spec"]["scope"]
    pathlib.Path("definition.yaml").write_text(yaml.safe_dump(definition))
    worked(crossply("new", "composition", "definition.yaml"))
    assert "1 passed" in worked(crossply("test"))


def test_a_test_expects_the_current_output(crossply: Crossply) -> None:
    worked(crossply("new", "project", "p"))
    words = ("p/apis/apps/composition.yaml", "p/examples/app.yaml", "--xrd", "p/apis/apps/definition.yaml")
    output = worked(crossply("new", "test", *words, "--functions", "p/functions.yaml"))
    assert "wrote p/apis/apps/composition_test.yaml\n" in output
    assert "1 passed" in worked(crossply("test", "p/apis"))
    composition = pathlib.Path("p/apis/apps/composition.yaml")
    composition.write_text(composition.read_text().replace("name: main", "name: other"))
    assert crossply("test", "p/apis").code == 1
    worked(crossply("new", "test", *words, "-o", "elsewhere/x_test.yaml"))
    assert "1 passed" in worked(crossply("test", "elsewhere"))


def test_a_test_for_a_failing_rendering_is_not_written(crossply: Crossply) -> None:
    worked(crossply("new", "project", "p"))
    composition = pathlib.Path("p/apis/apps/composition.yaml")
    composition.write_text(composition.read_text().replace("function-auto-ready", "function-nobody"))
    result = crossply("new", "test", "p/apis/apps/composition.yaml", "p/examples/app.yaml")
    assert result.code == 1
    assert "function-nobody" in result.err
    assert not os.path.exists("p/apis/apps/composition_test.yaml")


def test_models_can_be_imported_and_read_the_example(crossply: Crossply) -> None:
    pathlib.Path("ex.yaml").write_text(EXAMPLE)
    worked(crossply("new", "xrd", "ex.yaml"))
    assert "from models.acme_io_v1 import Cache" in worked(crossply("new", "models", "definition.yaml"))
    code = (
        "import yaml; from models.acme_io_v1 import Cache; value = yaml.safe_load(open('ex.yaml')); "
        "cache = Cache.from_dict(value); assert cache.spec.deep.list_ == [1, 2]; "
        "assert cache.spec.class_ == 'x'; assert cache.to_dict() == value"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_models_in_kcl_are_a_package_beside_a_program(crossply: Crossply) -> None:
    pytest.importorskip("kcl_lib")
    from kcl_lib import api

    pathlib.Path("ex.yaml").write_text(EXAMPLE)
    worked(crossply("new", "xrd", "ex.yaml"))
    output = worked(crossply("new", "models", "definition.yaml", "--language=kcl"))
    assert 'models = { path = "./model" }' in output
    assert "import models.io.acme.v1" in output
    program = "import models.io.acme.v1 as acme\na = acme.Cache{spec = {}}\n"
    pathlib.Path("main.k").write_text(program)
    package = api.ExternalPkg(pkg_name="models", pkg_path=os.path.abspath("model"))
    arguments = api.ExecProgramArgs(k_filename_list=[os.path.abspath("main.k")], external_pkgs=[package])
    assert '"apiVersion": "acme.io/v1"' in api.API().exec_program(arguments).json_result


def test_the_import_of_models_names_the_packages_they_lie_in(crossply: Crossply) -> None:
    worked(crossply("new", "function", "hello", "-d", "."))
    output = worked(crossply("new", "models", "example/definition.yaml", "-o", "function/models/"))
    use = next(line for line in output.splitlines() if "in Python: " in line).partition("in Python: ")[2]
    assert use == "from function.models.example_org_v1 import Greeting"
    done = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n", "no CompositeResourceDefinition or CustomResourceDefinition"),
        ("kind: CustomResourceDefinition\nspec: {}\n", 'cannot read the CustomResourceDefinition ""'),
        ("kind: CustomResourceDefinition\nspec: {group: a, names: 5, versions: [5]}\n", "cannot read the"),
        ("a: [\n", "yaml: line"),
        (
            "kind: CustomResourceDefinition\nspec: {group: a, names: {kind: A}, versions: [{served: no}]}\n",
            "no version of any kind is served",
        ),
    ],
)
def test_models_of_nothing_are_an_error(crossply: Crossply, text: str, message: str) -> None:
    pathlib.Path("x.yaml").write_text(text)
    result = crossply("new", "models", "x.yaml")
    assert result.code == 1
    assert message in result.err
    assert not os.path.exists("models")


@pytest.mark.parametrize("words", [("new", "function"), ("init", "function")])
def test_a_function_is_a_python_project_that_can_be_packed(
    crossply: Crossply, words: tuple[str, ...]
) -> None:
    worked(crossply(*words, "function-hello"))
    from crossply.xpkg.python_project_image import read_project

    project = read_project("function-hello")
    assert (project.name, project.module, project.function) == ("function-hello", "function.main", "compose")
    worked(crossply("xpkg", "build", "-f", "function-hello/package", "-o", "f.xpkg"))
    worked(crossply("validate", "function-hello/example/definition.yaml", "function-hello/example/xr.yaml"))


def test_a_function_passes_its_tests(crossply: Crossply) -> None:
    worked(crossply("new", "function", "function-hello"))
    environ = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "crossply.pytest_plugin",
    }
    for command, summary in (("pytest -q", "4 passed"), ("crossply test", "2 passed")):
        done = subprocess.run(
            command.split(), cwd="function-hello", env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert summary in done.stdout


def test_generated_code_passes_our_linter(crossply: Crossply) -> None:
    worked(crossply("new", "function", "function-hello"))
    words = ["ruff", "check", "--isolated", "--no-cache", "--line-length=110", "--select=E,F,W,I,N,UP,B", "."]
    done = subprocess.run(
        [BIN / words[0], *words[1:]], cwd="function-hello", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
