"""`render` and `operation render` in a project: its functions run from their files, and nothing is built."""

from __future__ import annotations

import shutil

import pytest
import yaml

from tests.support.cli.render_bench import Bench, composition, function, step

PROJECT = {
    "apiVersion": "dev.crossplane.io/v1alpha1",
    "kind": "Project",
    "metadata": {"name": "shop"},
    "spec": {
        "repository": "registry.example.org/team/shop",
        "dependencies": [
            {
                "type": "xpkg",
                "xpkg": {
                    "apiVersion": "pkg.crossplane.io/v1",
                    "kind": "Function",
                    "package": "xpkg.crossplane.io/crossplane-contrib/function-auto-ready",
                    "version": ">=v0.5.0",
                },
            }
        ],
    },
}
MAIN = """
from crossply.sdk import function

@function
def compose(req, rsp):
    rsp.desired["{name}"] = {{"apiVersion": "v1", "kind": "ConfigMap", "data": {{"by": "{name}"}}}}
"""
PYPROJECT = '[project]\nname = "f"\n[project.scripts]\nfunction = "function.main:compose"\n'
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: templates
data:
  by: templates of {{ .observed.composite.resource.metadata.name }}
"""


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    bench.write("crossplane-project.yaml", PROJECT)
    bench.write("functions/file/main.py", MAIN.format(name="file"))
    bench.write("functions/packed/pyproject.toml", PYPROJECT)
    bench.write("functions/packed/function/__init__.py", "\n")
    bench.write("functions/packed/function/main.py", MAIN.format(name="packed"))
    bench.write("functions/templates/compose.yaml.gotmpl", TEMPLATE)
    steps = [step(name, f"team-shop{name}") for name in ("file", "packed", "templates")]
    ready = step("ready", "crossplane-contrib-function-auto-ready")
    bench.write("composition.yaml", composition(*steps, ready))
    return bench


def config_map_origins(done):
    assert done.returncode == 0, done.stderr.decode()
    objects = yaml.safe_load_all(done.stdout.decode())
    return {obj["data"]["by"] for obj in objects if obj["kind"] == "ConfigMap"}


def test_the_functions_of_a_project_are_run(bench):
    assert config_map_origins(bench.run("xr.yaml", "composition.yaml")) == {
        "file",
        "packed",
        "templates of app",
    }
    bench.write("functions/templates/compose.yaml.gotmpl", TEMPLATE.replace("templates of", "edited for"))
    assert "edited for app" in config_map_origins(bench.run("xr.yaml", "composition.yaml"))


def test_the_project_may_be_elsewhere_and_a_file_of_functions_counts_more(bench):
    bench.write("elsewhere/note", "\n")
    words = ["../xr.yaml", "../composition.yaml", "--project-file", "../crossplane-project.yaml"]
    elsewhere = Bench(bench.folder / "elsewhere")
    assert config_map_origins(elsewhere.run(*words)) == {"file", "packed", "templates of app"}
    bench.write("other.py", MAIN.format(name="file").replace('"by": "file"', '"by": "other"'))
    bench.write("functions.yaml", function("team-shopfile", crossply__file="other.py"))
    done = bench.run("xr.yaml", "composition.yaml", "functions.yaml")
    assert config_map_origins(done) == {"other", "packed", "templates of app"}


def test_a_step_may_name_a_built_in_function_by_its_package(bench):
    steps = [step("file", "team-shopfile"), step("ready", "function-auto-ready")]
    bench.write("composition.yaml", composition(*steps))
    assert config_map_origins(bench.run("xr.yaml", "composition.yaml")) == {"file"}


def test_a_function_that_no_step_calls_need_not_be_one_that_runs_here(bench):
    bench.write("functions/go/go.mod", "module x\n")
    assert config_map_origins(bench.run("xr.yaml", "composition.yaml")) == {
        "file",
        "packed",
        "templates of app",
    }


@pytest.mark.parametrize("folder", [".", "tests"])
def test_a_suite_knows_the_functions_of_its_project(bench, folder):
    words = ["composition.yaml", "xr.yaml", "-o", f"{folder}/app_test.yaml"]
    assert bench.run(*words, command=("new", "test")).returncode == 0
    done = bench.run(command=("test",))
    assert (done.returncode, b"1 passed" in done.stdout) == (0, True), done.stdout.decode()
    bench.write("elsewhere/note", "\n")
    done = Bench(bench.folder / "elsewhere").run(f"../{folder}/app_test.yaml", command=("test",))
    assert done.returncode == 0, done.stdout.decode()


def test_a_step_that_calls_an_unknown_function_lists_the_functions_of_the_project(bench):
    bench.write("composition.yaml", composition(step("file", "team-shopfil")))
    done = bench.run("xr.yaml", "composition.yaml")
    assert b'unknown function "team-shopfil" - is it listed in the render input?' in done.stderr
    assert b"known functions: team-shopfile, team-shoppacked, team-shoptemplates" in done.stderr


def test_an_operation_is_rendered_with_the_functions_of_its_project(bench):
    steps = [step("file", "team-shopfile")]
    named = MAIN.format(name="file").replace('"data"', '"metadata": {"name": "x", "namespace": "y"}, "data"')
    bench.write("functions/file/main.py", named)
    operation = {"apiVersion": "ops.crossplane.io/v1alpha1", "kind": "Operation", "metadata": {"name": "o"}}
    bench.write("operation.yaml", {**operation, "spec": {"mode": "Pipeline", "pipeline": steps}})
    assert config_map_origins(bench.run("operation.yaml", command=("operation", "render"))) == {"file"}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("def f(:\n", "correct the Python file that the message names"),
        ("1 / 0\n", "correct the Python file that the message names"),
        (None, "check the path of the Python file; it is relative to the working directory"),
    ],
)
def test_the_hint_for_a_function_whose_file_cannot_be_loaded_is_about_the_file(bench, text, hint):
    if text is not None:
        bench.write("broken.py", text)
    bench.write("functions.yaml", function("team-shopfile", crossply__file="broken.py"))
    done = bench.run("xr.yaml", "composition.yaml", "functions.yaml")
    assert done.returncode == 1
    assert hint in done.stderr.decode()
    assert "name the function in the functions file" not in done.stderr.decode()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "functions/file/go.mod",
            "module x\n",
            'cannot run function "file" of the project, functions/file: functions in Go are not built here',
        ),
        (
            "functions/packed/pyproject.toml",
            PYPROJECT.replace("main", "other"),
            'cannot run function "packed" of the project, functions/packed: there is no module',
        ),
        (
            "functions/packed/function/main.py",
            MAIN.format(name="packed") + "    raise KeyError(7)\n",
            'look at Function "team-shoppacked" in functions/packed/function/main.py; ',
        ),
        (
            "functions/templates/second.gotmpl",
            "a: b\nc: {{ fail 'x' }}\n",
            "template: functions/templates/second.gotmpl:2:11: ",
        ),
        (
            "functions/templates/second.gotmpl",
            "\n\n{{ fail `oh` }}\n",
            'look at Function "team-shoptemplates" in functions/templates; ',
        ),
        ("crossplane-project.yaml", "kind: Other\n", "unsupported project apiVersion"),
    ],
)
def test_errors_of_functions_are_reported(bench, file, text, message):
    bench.write(file, text)
    done = bench.run("xr.yaml", "composition.yaml")
    assert done.returncode == 1
    assert message in done.stderr.decode()


def test_a_step_whose_function_is_not_in_the_project_is_reported(bench):
    shutil.rmtree(bench.folder / "functions")
    done = bench.run("xr.yaml", "composition.yaml")
    assert done.returncode == 1
    assert b"team-shopfile" in done.stderr
