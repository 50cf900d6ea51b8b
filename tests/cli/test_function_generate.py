"""`function generate`: a function of a project that works at once, and a step that calls it."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crossply.values.yaml import load
from tests.support.cli.command import Run

PROJECT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata: {name: platform}
spec:
  repository: registry.test/team/platform
"""
DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: KINDs.acme.test}
spec:
  group: acme.test
  names: {kind: KIND, plural: KINDs}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [watt]
            properties: {watt: {type: integer, minimum: 3}}
"""
COMPOSITION = """\
# What a lamp becomes.
kind: Composition
apiVersion: apiextensions.crossplane.io/v1
metadata: {name: lamps}
spec:
  mode: Pipeline
  compositeTypeRef: {apiVersion: acme.test/v1, kind: Lamp}
  pipeline:
    # At the end.
    - step: ready
      functionRef: {name: function-auto-ready}   # built in
"""
STEP = """\
    - functionRef:
        name: team-platformcompose-lamp
      step: compose-lamp
"""
BUILT_IN = ("go-templating", "auto-ready")
FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-NAME}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-NAME:v0.5.0}
"""
FILE = "apis/lamps/composition.yaml"


@pytest.fixture
def generate(crossply: Run) -> Run:
    """Run `crossply function generate …` in a project with two kinds."""
    Path("crossplane-project.yaml").write_text(PROJECT)
    Path("apis/lamps").mkdir(parents=True)
    for kind in ("Lamp", "Chair"):
        Path(f"apis/lamps/{kind.lower()}.yaml").write_text(DEFINITION.replace("KIND", kind))
    Path(FILE).write_text(COMPOSITION)
    return lambda *words: crossply("function", "generate", *words)


def files() -> list[str]:
    return sorted(str(path) for path in Path("functions").rglob("*") if path.is_file())


def pytest_passes(folder: str, summary: str = "3 passed") -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert summary in ran.stdout


def test_a_function_in_python_for_a_composition_has_models_and_passes_its_tests(generate: Run) -> None:
    code, out, err = generate("compose-lamp", FILE, "-l", "python")
    assert code == 0, err
    assert out == "".join(f"wrote {path}\n" for path in files())
    main = Path("functions/compose-lamp/function/main.py").read_text()
    assert "from function.models.acme_test_v1 import Lamp\n" in main
    assert "xr = Lamp.from_dict(req.xr)" in main
    pytest_passes("functions/compose-lamp")


def test_a_function_in_python_works_without_any_kind(generate: Run) -> None:
    for path in Path("apis/lamps").iterdir():
        path.unlink()
    assert generate("compose-lamp", "--language=python")[0] == 0
    assert not Path("functions/compose-lamp/function/models").exists()
    pytest_passes("functions/compose-lamp")


@pytest.mark.parametrize("paths", ["", "functions/sit functions/stand"])
def test_pytest_passes_in_the_folder_of_the_project_with_several_functions(
    generate: Run, monkeypatch: pytest.MonkeyPatch, paths: str
) -> None:
    for name in ("sit", "stand"):
        assert generate(name, "-l", "python")[0] == 0
    monkeypatch.setenv("PYTEST_ADDOPTS", paths)
    main = Path("functions/stand/function/main.py")
    main.write_text(main.read_text().replace('"about"', '"changed"'))
    test = Path("functions/stand/tests/test_stand.py")
    test.write_text(test.read_text().replace('"about"', '"changed"'))
    pytest_passes(".", "6 passed")


def test_the_command_of_its_readme_serves_the_function(generate: Run, tmp_path: Path) -> None:
    assert generate("sit", "-l", "python")[0] == 0
    readme = Path("functions/sit/README.md").read_text()
    line = next(line for line in readme.splitlines() if line.startswith("    crossply function run"))
    words = shlex.split(line, comments=True)
    program = str(Path(sys.executable).parent / words[0])
    socket = tmp_path / "socket"
    place = ["--network", "unix", "--address", str(socket)]
    with subprocess.Popen(
        [program, *words[1:], *place], cwd="functions/sit", stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            while serving.poll() is None and not socket.exists():
                time.sleep(0.05)
            exit_code = serving.poll()
        finally:
            serving.terminate()
        assert exit_code is None, serving.communicate()[1]


def test_the_only_kind_of_a_project_is_the_kind_of_the_function(generate: Run) -> None:
    Path("apis/lamps/lamp.yaml").unlink()
    assert generate("sit", "-l", "python")[0] == 0
    assert "Chair.from_dict" in Path("functions/sit/function/main.py").read_text()


def test_the_step_comes_first_and_nothing_else_in_the_file_changes(generate: Run) -> None:
    assert generate("compose-lamp", FILE)[0] == 0
    assert Path(FILE).read_text() == COMPOSITION.replace("  pipeline:\n", f"  pipeline:\n{STEP}")


def test_a_composition_without_a_mode_is_a_pipeline(generate: Run) -> None:
    Path(FILE).write_text(COMPOSITION.replace("  mode: Pipeline\n", ""))
    assert generate("compose-lamp", FILE)[0] == 0
    assert load(Path(FILE).read_text())["spec"]["pipeline"][0]["step"] == "compose-lamp"


def test_a_step_that_is_there_already_is_left_alone(generate: Run) -> None:
    text = COMPOSITION.replace("  pipeline:\n", f"  pipeline:\n{STEP}")
    Path(FILE).write_text(text)
    assert generate("compose-lamp", FILE)[0] == 0
    assert Path(FILE).read_text() == text


def test_templates_render(generate: Run, crossply: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert generate("compose-lamp")[0] == 0
    folder = Path("functions/compose-lamp").absolute()
    assert files() == [
        "functions/compose-lamp/00-prelude.yaml.gotmpl",
        "functions/compose-lamp/01-compose.yaml.gotmpl",
    ]
    monkeypatch.setenv("CROSSPLY_TEMPLATES", str(folder))
    source = f"{{kind: GoTemplate, source: FileSystem, fileSystem: {{dirPath: '{folder}'}}}}"
    step = f"    - {{step: a, functionRef: {{name: function-go-templating}}, input: {source}}}\n"
    Path("composition.yaml").write_text(COMPOSITION.replace("  pipeline:\n", f"  pipeline:\n{step}"))
    Path("xr.yaml").write_text(
        "apiVersion: acme.test/v1\nkind: Lamp\nmetadata: {name: a, namespace: n}\nspec: {watt: 5}\n"
    )
    Path("functions.yaml").write_text("---\n".join(FUNCTION.replace("NAME", name) for name in BUILT_IN))
    code, out, err = crossply("render", "xr.yaml", "composition.yaml", "functions.yaml")
    assert code == 0, err
    composed = load(out.split("---\n")[2])
    assert (composed["kind"], composed["data"]) == ("ConfigMap", {"about": "Lamp a"})


def test_templates_name_the_schemas_that_there_are(generate: Run) -> None:
    Path("schemas/json").mkdir(parents=True)
    Path("schemas/json/index.schema.json").write_text("{}")
    assert generate("a")[0] == 0
    text = Path("functions/a/01-compose.yaml.gotmpl").read_text()
    assert text.startswith("# yaml-language-server: $schema=../../schemas/json/index.schema.json\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Upper"], 'invalid function name "Upper": a DNS-1035 label must consist of'),
        (["1st"], 'invalid function name "1st"'),
        (["a", "-l", "go"], 'cannot generate a "go" function: there is no template for it'),
        (["a", "-l", "go"], "crossply dependency add"),
        (["a", "nowhere.yaml"], 'pipeline path "nowhere.yaml" does not exist'),
        (["a", "../out.yaml"], "file path is outside the project filesystem"),
        (["a", "apis/lamps/lamp.yaml"], "apis/lamps/lamp.yaml is not a Composition"),
        (["ready", FILE], 'composition already has a step named "ready" referencing function'),
        (["taken"], 'function directory "taken" already exists and is not empty'),
        (["a", "old.yaml"], "the Composition of old.yaml has no pipeline"),
        (["a", "two.yaml"], "two.yaml is not a Composition"),
        (["a", "bad.yaml"], "cannot unmarshal composition"),
        (["a", "-l", "python", "-f", "narrow.yaml"], 'add "python" to spec.schemas.languages'),
        (["a", "-f", "nowhere.yaml"], 'failed to read project file "nowhere.yaml"'),
    ],
)
def test_an_invalid_function_is_reported_and_nothing_is_written(
    generate: Run, words: list[str], message: str
) -> None:
    Path("functions/taken").mkdir(parents=True)
    Path("functions/taken/x").write_text("")
    Path("old.yaml").write_text("kind: Composition\nspec: {resources: []}\n")
    Path("two.yaml").write_text(f"{COMPOSITION}---\n{COMPOSITION}")
    Path("bad.yaml").write_text("a: b: c\n")
    Path("narrow.yaml").write_text(f"{PROJECT}  schemas: {{languages: [json]}}\n")
    code, _, err = generate(*words)
    assert code == 1
    assert message in err
    assert files() == ["functions/taken/x"]
    assert Path(FILE).read_text() == COMPOSITION


def test_an_unknown_language_is_a_usage_error(generate: Run) -> None:
    assert generate("a", "-l", "cobol")[0] == 80
    assert not Path("functions").exists()


def test_an_empty_directory_is_used(generate: Run) -> None:
    Path("functions/a").mkdir(parents=True)
    assert generate("a")[0] == 0
    assert len(files()) == 2
