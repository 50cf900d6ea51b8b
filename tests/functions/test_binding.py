"""Which runner serves a Function: every rule of precedence, and every refusal."""

from __future__ import annotations

import os

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.oci_runtime import engine_installed
from crossply.functions import builtin
from crossply.functions.binding import bind, choose_runtime
from crossply.functions.daemonless_container_runner import InContainer
from crossply.functions.docker_container import DockerContainer
from crossply.functions.docker_settings import read_settings
from crossply.functions.failures import (
    ContainerEngineUnavailable,
    FunctionNotBound,
    FunctionUnavailable,
    RuntimeAnnotationError,
)
from crossply.functions.in_process import InProcess
from crossply.functions.local_process import LocalProcess
from crossply.functions.remote import Remote
from crossply.xpkg.registry_failures import RegistryUnreachable
from tests.support.ports import free_port

PUBLISHED = "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0"
OTHER = "registry.example.org/acme/function-secret-sauce:v1"
SHARED = "registry.example.org/acme/function-auto-ready:v1"
CROSSPLANE_RUNTIME = "render.crossplane.io/runtime"
CROSSPLY_RUNTIME = "crossply.dev/runtime"


def function(package=PUBLISHED, **annotations):
    return {"metadata": {"name": "f", "annotations": annotations}, "spec": {"package": package}}


@pytest.mark.parametrize(
    ("package", "builtin_name", "reason"),
    [
        (PUBLISHED, "auto-ready", "the published name"),
        ("function-auto-ready", "auto-ready", "no registry, no tag"),
        ("localhost:5000/crossplane-contrib/function-auto-ready", "auto-ready", "a port is not a tag"),
        (f"{PUBLISHED}@sha256:{'0' * 64}", "auto-ready", "tag and digest"),
        ("r.example.org/proxy/crossplane-contrib/function-auto-ready@sha256:00", "auto-ready", "a mirror"),
        ("xpkg.upbound.io/upbound/function-auto-ready:v0.6.0", "auto-ready", "published by Upbound too"),
        ("ghcr.io/Wompipomp/function-starlark:v0.9.0", "starlark", "whatever the case of the organisation"),
        ("r.example.org/acme/function-auto-ready", None, "another organisation's"),
        ("r.example.org/function-auto-ready", None, "a registry is no organisation"),
        ("r.example.org/crossplane-contrib/x/function-auto-ready", None, "x is the organisation"),
        ("r.example.org/crossplane-contrib/auto-ready", None, "packages of functions start with function-"),
        ("r.example.org/crossplane-contrib/function-auto-ready/other", None, "the last segment counts"),
        ("r.example.org/crossplane-contrib/function-auto-ready-fork", None, "the whole segment counts"),
        ("r.example.org/crossplane-contrib/function-native", None, "the native engine is not a package"),
        ("", None, "no package"),
    ],
)
def test_a_published_package_is_replaced_by_the_built_in_function(package, builtin_name, reason):
    assert builtin.for_package(package) == builtin_name, reason


@pytest.mark.parametrize(
    ("package_object", "preferred"),
    [
        (function(SHARED, **{CROSSPLY_RUNTIME: "builtin"}), None),
        (function(SHARED, **{CROSSPLANE_RUNTIME: "InProcess"}), None),
        (function(SHARED), "builtin"),
    ],
)
def test_a_package_that_shares_a_name_runs_built_in_with_the_annotation(package_object, preferred):
    assert choose_runtime(package_object, preferred) == "builtin"
    assert isinstance(bind(package_object, preferred), InProcess)


def test_a_package_that_shares_a_name_is_not_replaced_and_its_failure_names_both_choices(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    with pytest.raises(ContainerEngineUnavailable) as caught:
        bind(function(SHARED), "docker")(None, 1.0)
    hint = caught.value.hint
    assert f"{SHARED} only shares its name with the built-in function auto-ready" in hint
    assert "replaces crossplane-contrib/function-auto-ready and upbound/function-auto-ready" in hint
    assert "--function-runtime=builtin, or the annotation crossply.dev/runtime: builtin" in hint
    assert "install crun, or start Docker or podman, to run its image" in hint


@pytest.mark.parametrize(
    ("function_package", "preferred", "runtime", "reason"),
    [
        (function(), None, "builtin", "a published package needs no annotation"),
        (function(OTHER), None, "container", "anything else is an image"),
        (function(SHARED), None, "container", "also if it shares a name with a built-in function"),
        (function(OTHER), "docker", "docker", "the command prefers Docker"),
        (
            function(OTHER, **{f"{CROSSPLANE_RUNTIME}-docker-network": "n"}),
            None,
            "docker",
            "a network is Docker's",
        ),
        (
            function(OTHER, **{f"{CROSSPLANE_RUNTIME}-docker-cleanup": "Stop"}),
            None,
            "container",
            "nothing to clean up",
        ),
        (function(**{CROSSPLY_RUNTIME: "container"}), None, "container", "ours, although one is built in"),
        (function(**{CROSSPLY_RUNTIME: "run-to-completion"}), None, "run-to-completion", "ours"),
        (function(), "docker", "docker", "the command's choice"),
        (function(OTHER), "builtin", "builtin", "the command's choice, refused when bound"),
        (function(**{CROSSPLANE_RUNTIME: "Docker"}), None, "docker", "Docker was package_object for by name"),
        (function(**{CROSSPLANE_RUNTIME: "Docker"}), "builtin", "builtin", "the command overrides Docker"),
        (function(**{CROSSPLANE_RUNTIME: "Development"}), None, "remote", "it runs already"),
        (
            function(**{CROSSPLANE_RUNTIME: "Development"}),
            "docker",
            "remote",
            "the command does not override Development",
        ),
        (
            function(**{CROSSPLANE_RUNTIME: "Development"}),
            "builtin",
            "builtin",
            "but for one that is built in",
        ),
        (
            function(OTHER, **{CROSSPLANE_RUNTIME: "Development"}),
            "builtin",
            "remote",
            "which this one is not",
        ),
        (function(OTHER, **{CROSSPLANE_RUNTIME: "InProcess"}), "docker", "builtin", "in this process"),
        (
            function(**{CROSSPLY_RUNTIME: "process"}),
            "docker",
            "process",
            "our annotation is the most specific",
        ),
        (
            function(**{CROSSPLY_RUNTIME: "docker", CROSSPLANE_RUNTIME: "Development"}),
            None,
            "docker",
            "ours before theirs",
        ),
        (function(**{CROSSPLY_RUNTIME: "builtin"}), "docker", "builtin", "ours before the command"),
        (function(**{CROSSPLY_RUNTIME: "remote"}), None, "remote", "ours"),
        (
            function(**{CROSSPLY_RUNTIME: "", CROSSPLANE_RUNTIME: ""}),
            None,
            "builtin",
            "an empty annotation says nothing",
        ),
        (
            {"metadata": {"name": "f"}, "spec": {"package": PUBLISHED}},
            None,
            "builtin",
            "no annotations at all",
        ),
    ],
)
def test_the_runtime_follows_the_annotations_and_the_command(function_package, preferred, runtime, reason):
    assert choose_runtime(function_package, preferred) == runtime, reason


@pytest.mark.parametrize(
    ("function_package", "kind"),
    [
        (function(), InProcess),
        (function(**{CROSSPLANE_RUNTIME: "Development"}), Remote),
        (function(**{CROSSPLY_RUNTIME: "process", "crossply.dev/command": "true"}), LocalProcess),
    ],
)
def test_binding_opens_nothing_yet(function_package, kind):
    assert isinstance(bind(function_package), kind)


@pytest.mark.parametrize("key", [CROSSPLANE_RUNTIME, CROSSPLY_RUNTIME])
def test_an_unknown_runtime_is_named(key):
    with pytest.raises(RuntimeAnnotationError) as refused:
        choose_runtime(function(**{key: "Podman"}))
    assert str(refused.value) == f'unsupported "{key}" annotation value "Podman" (unknown runtime)'


def test_a_package_that_is_not_built_in_is_refused_by_name():
    with pytest.raises(FunctionNotBound) as refused:
        bind(function(OTHER), "builtin")
    assert '"f"' in str(refused.value)
    assert OTHER in str(refused.value)
    assert "auto-ready" in refused.value.hint


def test_a_function_with_the_name_of_a_built_in_one_gives_a_hint_about_its_package():
    named = {**function("runtime"), "metadata": {"name": "function-starlark"}}
    with pytest.raises(FunctionNotBound) as refused:
        bind(named, "builtin")
    assert '"function-starlark" is the name of a built-in function' in refused.value.hint
    assert "set spec.package to the published one, ghcr.io/wompipomp/function-starlark" in refused.value.hint


def test_without_an_engine_a_container_gives_a_hint(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    monkeypatch.setattr("crossply.containers.oci_runtime.ENGINES", ())
    runner = bind(function(OTHER))
    with pytest.raises(ContainerEngineUnavailable) as refused:
        runner(None, 1.0)
    assert str(refused.value).startswith(f'cannot run Function "f": package "{OTHER}": no container engine')
    assert "Development" in refused.value.hint
    runner.close()


@pytest.mark.skipif(not engine_installed(os.environ), reason="neither crun nor runc is installed")
@pytest.mark.parametrize(
    ("package", "advice"),
    [
        (
            "acme/function-secret-sauce",
            f"built in are {', '.join(builtin.PUBLISHED)}; or annotate the Function",
        ),
        (
            "crossplane-contrib/function-auto-ready",
            "run it built in: --function-runtime=builtin, or the anno",
        ),
        ("acme/function-auto-ready", "only shares its name with the built-in function auto-ready"),
    ],
)
def test_an_image_that_cannot_be_pulled_gives_a_hint(package, advice, monkeypatch, tmp_path):
    monkeypatch.setenv("CROSSPLY_CONTAINER_STORE", str(tmp_path))
    runner = bind(function(f"localhost:{free_port()}/{package}:v1", **{CROSSPLY_RUNTIME: "container"}))
    with pytest.raises(RegistryUnreachable) as refused:
        runner(None, 60.0)
    runner.close()
    assert RegistryUnreachable.hint in refused.value.hint
    assert advice in refused.value.hint


@pytest.mark.parametrize(
    ("package", "advice"),
    [(PUBLISHED, "run it built in: --function-runtime=builtin"), (OTHER, "without TLS?")],
)
def test_a_function_declared_running_that_is_not_fails_without_waiting(package, advice):
    target = {f"{CROSSPLANE_RUNTIME}-development-target": f"localhost:{free_port()}"}
    runner = bind(function(package, **{CROSSPLANE_RUNTIME: "Development", **target}))
    with pytest.raises(FunctionUnavailable) as refused:  # a waiting call ends with FunctionTimedOut
        runner(Request(State(Resource({"kind": "X"}))), 60.0)
    runner.close()
    assert advice in refused.value.hint


@pytest.mark.parametrize(
    ("function_package", "preferred", "kind", "reason"),
    [
        (function(OTHER, **{CROSSPLANE_RUNTIME: "Docker"}), None, InContainer, "any engine does"),
        (function(OTHER, **{CROSSPLANE_RUNTIME: "Docker"}), "docker", DockerContainer, "the command insists"),
        (function(OTHER, **{CROSSPLY_RUNTIME: "docker"}), None, DockerContainer, "our annotation insists"),
        (
            function(OTHER, **{CROSSPLANE_RUNTIME: "Docker", f"{CROSSPLANE_RUNTIME}-docker-name": "x"}),
            None,
            DockerContainer,
            "only Docker's",
        ),
        (function(OTHER), None, InContainer, "the default"),
    ],
)
def test_without_docker_a_container_of_ours_takes_its_place(
    monkeypatch, tmp_path, function_package, preferred, kind, reason
):
    crun = tmp_path / "crun"
    crun.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    assert type(bind(function_package, preferred)) is kind, reason


def test_a_process_needs_its_command():
    with pytest.raises(RuntimeAnnotationError, match=r"crossply\.dev/command"):
        bind(function(**{CROSSPLY_RUNTIME: "process"}))


def docker(**annotations):
    return read_settings(
        "f", OTHER, {f"render.crossplane.io/runtime-docker-{k}": v for k, v in annotations.items()}
    )


def test_a_container_has_the_documented_defaults():
    settings = docker()
    assert settings.image == OTHER
    assert (settings.cleanup, settings.pull_policy) == ("Remove", "IfNotPresent")
    assert (settings.publish_address, settings.target, settings.network, settings.name) == (
        "127.0.0.1",
        "",
        "",
        "",
    )


def test_a_container_is_described_by_annotations():
    settings = docker(image="i", cleanup="Stop", env="A=1, B=x=y", target="host", network="n", name="c")
    assert settings.image == "i"
    assert settings.cleanup == "Stop"
    assert settings.environment == ("A=1", "B=x=y")
    assert (settings.target, settings.network, settings.name) == ("host", "n", "c")


@pytest.mark.parametrize(
    ("annotation", "value"), [("cleanup", "Burn"), ("pull-policy", "Sometimes"), ("env", "A=1,B")]
)
def test_an_unknown_container_setting_is_named(annotation, value):
    with pytest.raises(RuntimeAnnotationError, match=annotation):
        docker(**{annotation: value})
