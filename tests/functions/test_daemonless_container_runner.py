"""Functions in containers that a command starts here: served, or run to completion, from a registry."""

from __future__ import annotations

import gzip
import os
import subprocess

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.launcher_client import close_launcher
from crossply.errors import CrossplyError
from crossply.functions.binding import bind
from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from tests.support import registry as peers
from tests.support.container_images import go_image
from tests.support.function_servers import CROSSPLY, REQUEST
from tests.support.script_images import needs_containers, script_image

pytestmark = needs_containers

META = "apiVersion: meta.pkg.crossplane.io/v1\nkind: {}\nmetadata: {{name: function-labelizer}}\nspec: {{}}\n"
DESIRED = State(None, {"a": Resource({"kind": "A", "metadata": {"labels": {"who": "nobody"}}})})
XR_REQUEST = Request(State(Resource({"kind": "XR"})), DESIRED)
LABELIZER = """exec busybox sed 's/"who":"nobody"/"who":"labelizer"/'"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("CROSSPLY_CONTAINER_STORE", str(tmp_path_factory.getbasetemp() / "images"))


@pytest.fixture(scope="module", autouse=True)
def nothing_left():
    yield
    close_launcher()


def runner_of(package, runtime="container"):
    annotations = {
        "crossply.dev/runtime": runtime,
        "render.crossplane.io/runtime-docker-pull-policy": "Always",
    }
    return bind({"metadata": {"name": "f", "annotations": annotations}, "spec": {"package": package}})


def tarball(directory, image, compressed=True):
    """What `docker save | gzip` writes."""
    write_archive(image, str(directory / "image.tar"))
    data = (directory / "image.tar").read_bytes()
    path = directory / "function.tgz"
    path.write_bytes(gzip.compress(data) if compressed else data)
    return path


def xpkg(directory, *words):
    return subprocess.run(
        [CROSSPLY, "xpkg", *words], cwd=directory, capture_output=True, text=True, timeout=120, env=os.environ
    )


def test_a_served_foreign_image_is_called_without_docker(registry):
    peers.pushed(registry, go_image(), "function-go:v1")
    runner = runner_of(f"{registry}/function-go:v1")
    try:
        for _ in range(2):
            assert runner(XR_REQUEST, 60.0).desired == DESIRED
    finally:
        runner.close()


@pytest.mark.parametrize("compressed", [True, False])
def test_a_package_is_built_from_a_tarball_whose_program_runs_to_completion(registry, tmp_path, compressed):
    (tmp_path / "crossplane.yaml").write_text(META.format("Function"))
    path = tarball(tmp_path, script_image(LABELIZER), compressed)
    built = xpkg(tmp_path, "build", f"--from-oci-tarball={path}", "-o", "function.xpkg")
    assert built.returncode == 0, built.stderr
    meta = read(stream_of(read_archive(str(tmp_path / "function.xpkg")))).meta
    assert meta["metadata"]["annotations"]["dev.crossply.runtime"] == "run-to-completion"
    pushed = xpkg(tmp_path, "push", "-f", "function.xpkg", f"{registry}/function-labelizer:{compressed}")
    assert pushed.returncode == 0, pushed.stderr
    answer = runner_of(f"{registry}/function-labelizer:{compressed}")(XR_REQUEST, 60.0)
    assert answer.desired.resources["a"].object["metadata"]["labels"] == {"who": "labelizer"}
    assert answer.tag == XR_REQUEST.tag


def test_an_annotation_has_any_image_run_to_completion(registry):
    peers.pushed(registry, script_image(LABELIZER), "plain:v1")
    answer = runner_of(f"{registry}/plain:v1", "run-to-completion")(XR_REQUEST, 60.0)
    assert answer.desired.resources["a"].object["metadata"]["labels"] == {"who": "labelizer"}


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("Configuration", None, "cannot be made of an image that runs to completion"),
        ("Function", b"no tarball", "failed to load runtime tarball"),
        ("Function", gzip.compress(b"x" * 2000, mtime=0)[:-9], "cannot uncompress it"),
        ("Function", "no entry point", "the image does not say what to run"),
    ],
)
def test_a_tarball_that_is_no_package_is_reported(tmp_path, kind, data, message):
    (tmp_path / "crossplane.yaml").write_text(META.format(kind))
    entry = {} if data != "no entry point" else {"Entrypoint": None}
    path = tarball(tmp_path, script_image("exit 0", **entry))
    if isinstance(data, bytes):
        path.write_bytes(data)
    refused = xpkg(tmp_path, "build", f"--from-oci-tarball={path}", "-o", "x.xpkg")
    assert refused.returncode == 1
    assert message in refused.stderr


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo no >&2; exit 4", "its container ended with exit status 4: no"),
        ("echo hello", "cannot read the RunFunctionResponse that it wrote"),
        ("exit 0", "it wrote nothing on stdout"),
        ("busybox sleep 30", "it took longer than"),
    ],
)
def test_a_program_that_does_not_answer_is_reported(registry, script, message):
    reference = peers.pushed(registry, script_image(script), "bad:v1")
    with pytest.raises(CrossplyError) as failed:
        runner_of(str(reference), "run-to-completion")(REQUEST, 1.5)
    assert str(failed.value).startswith('cannot run Function "f": ')
    assert message in str(failed.value)


COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {{name: c}}
spec:
  compositeTypeRef: {{apiVersion: example.org/v1, kind: XThing}}
  mode: Resources
  resources:
  - name: thing
    base: {{apiVersion: example.org/v1, kind: Thing, spec: {{color: red}}}}
  functions:
  - name: painter
    type: Container
    container: {{image: "{image}"}}
"""


def test_rendering_runs_the_container_functions_of_a_composition(registry, tmp_path):
    done = rendered(registry, tmp_path, "painter:v1", "s/color: red/color: blue/")
    assert (done.returncode, done.stderr) == (0, "")
    assert "color: blue" in done.stdout


def test_rendering_warns_of_a_function_that_changes_observed_resources(registry, tmp_path):
    done = rendered(registry, tmp_path, "liar:v1", "s/name: x$/name: y/")
    message = (
        'Pipeline step "painter": function "painter" changed the observed state, which is ignored: '
        "composite.resource.metadata.name"
    )
    assert (done.returncode, done.stderr) == (0, f"crossply: warning: {message}\n")
    assert "name: y" not in done.stdout
    [result] = [part for part in done.stdout.split("---\n") if "ObservedStateChanged" in part]
    assert "kind: Result" in result
    assert "severity: Warning" in result


def rendered(registry, tmp_path, name, command):
    """What `render` does with a container function that edits its FunctionIO by a command of sed."""
    image = peers.pushed(registry, script_image(f"exec busybox sed '{command}'"), name)
    (tmp_path / "xr.yaml").write_text("apiVersion: example.org/v1\nkind: XThing\nmetadata: {name: x}\n")
    (tmp_path / "composition.yaml").write_text(COMPOSITION.format(image=image))
    return subprocess.run(
        [CROSSPLY, "render", "-r", "xr.yaml", "composition.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
