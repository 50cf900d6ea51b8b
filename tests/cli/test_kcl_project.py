"""A project with a function and a test in KCL: generated, rendered, tested, built, and served."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crossply.xpkg.archive_reader import read_tagged
from crossply.xpkg.generated_python_project import KCL_NEEDS
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.python_project_image import ROOT
from tests.support.cli.command import Run
from tests.support.cli.package_server import empty_wheel, serving
from tests.support.cli.project import push_bases
from tests.support.programs import needs
from tests.support.registry import docker_registry

pytest.importorskip("kcl_lib")
pytestmark = pytest.mark.xdist_group("registry")
XR = {
    "apiVersion": "example.org/v1",
    "kind": "Greeting",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"name": "Ada"},
}
TEST = """\
import models.io.upbound.dev.meta.v1alpha1 as metav1alpha1
import models.org.example.v1 as examplev1
import expected

_greeting = examplev1.Greeting{metadata = {name = "hello", namespace = "default"}, spec.name = "Ada"}
items = [
    metav1alpha1.CompositionTest{
        metadata.name = "says-hello"
        spec = {
            compositionPath = "apis/greetings/composition.yaml"
            xr = _greeting
            assertResources = [_greeting, expected._about]
        }
    }
]
"""
EXPECTED = """\
_about = {apiVersion = "v1", kind = "ConfigMap", data.about = "Greeting hello"}
"""
MODULE = '[package]\nname = "t"\n[dependencies]\nmodels = { path = "./model" }\n'


def project_text(repository: str = "registry.test/team/platform", more: str = "") -> str:
    head = "apiVersion: meta.dev.upbound.io/v1alpha1\nkind: Project\nmetadata: {name: platform}\n"
    return f"{head}spec:\n  repository: {repository}\n{more}"


@pytest.fixture
def project(crossply: Run) -> Run:
    """A project with an API and a generated function, and the command in its folder."""
    Path("upbound.yaml").write_text(project_text())
    Path("examples").mkdir()
    Path("examples/greeting.yaml").write_text(yaml.safe_dump(XR))
    assert crossply("xrd", "generate", "examples/greeting.yaml")[0] == 0
    Path("apis/greetings/composition.yaml").write_text(COMPOSITION)
    words = ("function", "generate", "greet", "apis/greetings/composition.yaml", "--language=kcl")
    code, _, err = crossply(*words)
    assert code == 0, err
    return crossply


COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: greetings}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Greeting}
  mode: Pipeline
  pipeline:
  - step: ready
    functionRef: {name: function-auto-ready}
"""
RENDER = ("render", "examples/greeting.yaml", "apis/greetings/composition.yaml")


def write_test() -> None:
    folder = Path("tests/test-greetings")
    folder.mkdir(parents=True)
    for name, text in {"main.k": TEST, "expected.k": EXPECTED, "kcl.mod": MODULE}.items():
        (folder / name).write_text(text)
    (folder / "model").symlink_to("../../.up/kcl/models")


def test_a_generated_function_is_rendered(project: Run) -> None:
    assert os.readlink("functions/greet/model") == "../../.up/kcl/models"
    code, out, err = project(*RENDER)
    assert (code, "about: Greeting hello" in out) == (0, True), err


@pytest.mark.parametrize("link", [None, "../../.up/kcl/models"], ids=["absent", "a file with its target"])
def test_the_models_of_the_project_are_used_where_the_link_is_missing(project: Run, link: str | None) -> None:
    """As in a clone by a git that makes no links, or from an archive without them."""
    write_test()
    for folder in ("functions/greet", "tests/test-greetings"):
        path = Path(folder, "model")
        path.unlink()
        if link is not None:
            path.write_text(link)
    code, out, err = project(*RENDER)
    assert (code, "about: Greeting hello" in out) == (0, True), err
    code, out, _ = project("test")
    assert (code, "✓ says-hello" in out) == (0, True), out
    Path("upbound.yaml").write_text(project_text("r.invalid/acme/platform"))
    assert "failed to fetch the base image" in project("project", "build")[2], "the module is complete"


def test_models_are_those_of_the_definition_as_it_is_now(project: Run) -> None:
    file = Path("apis/greetings/definition.yaml")
    definition = yaml.safe_load(file.read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["loud"] = {"type": "boolean", "default": True}
    file.write_text(yaml.safe_dump(definition))
    main = Path("functions/greet/main.k")
    main.write_text(main.read_text().replace('"{} {}".format(_xr.kind, ', '"{} {}".format(_xr.spec.loud, '))
    assert "about: True hello" in project(*RENDER)[1]


def test_a_model_of_an_older_definition_asks_for_the_definition(project: Run) -> None:
    file = Path("apis/greetings/definition.yaml")
    definition = yaml.safe_load(file.read_text())
    definition["spec"]["scope"] = "LegacyCluster"
    file.write_text(yaml.safe_dump(definition))
    code, _, err = project(*RENDER)
    assert (code, "does not contain attribute crossplane" in err) == (1, True), err
    assert err.strip().endswith("(the definition says where Crossplane's own fields are: give it with --xrd)")
    code, out, err = project(*RENDER, f"--xrd={file}")
    assert (code, "about: Greeting hello" in out) == (0, True), err


def test_a_program_in_kcl_prints_tests(project: Run) -> None:
    write_test()
    code, out, _ = project("test")
    assert (code, "tests/test-greetings/main.k\n  ✓ says-hello" in out) == (0, True), out
    assert "says-hello" in project("test", "--list")[1]
    assert project("test", "tests/test-greetings/main.k")[0] == 0
    main = Path("functions/greet/main.k")
    main.write_text(main.read_text().replace('"{} {}"', '"{}, {}"'))
    code, out, _ = project("test")
    assert (code, "ConfigMap: data.about" in out) == (1, True), out


def test_a_program_may_print_an_empty_list_as_context(project: Run) -> None:
    write_test()
    program = Path("tests/test-greetings/main.k")
    program.write_text(TEST.replace("xr = _greeting\n", "xr = _greeting\n            context = []\n"))
    code, out, _ = project("test")
    assert (code, "✓ says-hello" in out) == (0, True), out


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("items = [", "cannot run the program"),
        ("a = 1\n", "prints no tests"),
        ("import file\nitems = [file.read('/etc/passwd')]\n", "cannot run the program"),
        ("import models.io.upbound.awsm.ec2.v1beta1 as e\nitems = [e.VPC{}]\n", "update-cache"),
        ("items = [x for x in range(100000000)]\n", "cannot run the program"),
    ],
)
def test_a_program_that_prints_no_tests_is_reported(project: Run, program: str, sentence: str) -> None:
    write_test()
    Path("tests/test-greetings/main.k").write_text(program)
    code, out, _ = project("test")
    assert (code, sentence in out) == (2, True), out


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("mirror")) as address:
        asyncio.run(push_bases(address))
        yield address


@needs("docker-registry")
def test_it_is_served_from_its_package(
    project: Run, mirror: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wheels").mkdir()
    # What others publish for the Python of the image; here it runs on what is installed.
    for name in KCL_NEEDS.requirements:
        empty_wheel(tmp_path / "wheels", name.replace("-", "_"), "1.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    more = f"""\
  architectures: [amd64]
  imageConfig:
  - matchImages: [{{prefix: gcr.io/}}]
    rewriteImage: {{prefix: "{mirror}/mirror/"}}
"""
    Path("upbound.yaml").write_text(project_text(f"{mirror}/acme/platform", more))
    code, _, err = project("project", "build")
    assert code == 0, err
    first = Path("_output/platform.xpkg").read_bytes()
    image = read_tagged("_output/platform.xpkg")[f"{mirror}/acme/platform_greet:amd64"]
    (tmp_path / "root").mkdir()
    unpack(image, str(tmp_path / "root"))
    site = tmp_path / "root" / ROOT
    source = site / "function_of_project/source"
    models = sorted(path.name for path in source.rglob("packages/models/**/*.k"))
    assert models == ["greeting.k", "object_meta.k", "owner_reference.k"], "others are not used"
    with serving([sys.executable, *image.inner["Entrypoint"][1:]], str(site)) as address:
        request = {"observed": {"composite": {"resource": XR}}}
        (tmp_path / "request.json").write_text(json.dumps(request))
        words = ("call", str(tmp_path / "request.json"), "--target", address)
        done = subprocess.run(
            [sys.executable, "-m", "crossply.cli", "function", *words], capture_output=True, text=True
        )
    assert "about: Greeting hello" in done.stdout, done.stdout + done.stderr
    assert project("project", "build")[0] == 0
    assert Path("_output/platform.xpkg").read_bytes() == first, "the same files give the same bytes"


def test_a_module_that_is_not_complete_is_not_built(project: Run) -> None:
    Path("functions/greet/kcl.mod").write_text(MODULE.replace("./model", "./nowhere"))
    code, _, err = project("project", "build")
    assert (code, 'failed to build function "greet"' in err) == (1, True)
    assert "there is no directory ./nowhere" in err


@pytest.mark.parametrize(
    ("program", "is_built"),
    [
        ("import models.io.acme.v1 as acme\nitems = [acme.Lamp{}]\n", False),
        ("import models.io.acme.v1\nitems = [v1.Lamp{}]\n", False),
        ("import models.io.acme.v1 as acme\nitems = []\n", True),
        ('"""\nimport models.io.acme.v1 as acme\nacme.Lamp{}\n"""\nitems = []\n', True),
    ],
)
def test_a_module_that_uses_models_that_are_not_there_is_not_built(
    project: Run, program: str, is_built: bool
) -> None:
    Path("functions/greet/main.k").write_text(program)
    Path("upbound.yaml").write_text(project_text("r.invalid/acme/platform"))
    code, _, err = project("project", "build")
    assert code == 1, "the base image cannot be fetched"
    if is_built:
        assert "failed to fetch the base image" in err
    else:
        assert "its modules lack packages that it uses: models.io.acme.v1\n" in err
        assert "crossply dependency update-cache" in err
