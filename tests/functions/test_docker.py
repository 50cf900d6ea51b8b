"""Functions in containers, against a real engine: Docker's where one answers, else podman's."""

from __future__ import annotations

import os
import secrets

import pytest

from crossply.functions.binding import bind
from crossply.functions.docker_engine import Engine, find_engine
from crossply.functions.failures import ContainerEngineUnavailable, ContainerFailed, FunctionError
from tests.support.function_servers import REQUEST
from tests.support.interpreter_image import IMAGE, import_image, start_podman
from tests.support.programs import require

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("containers")]

RUNTIME = "render.crossplane.io/runtime"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """An engine that can run containers, with the test image; DOCKER_HOST names it."""
    before, process = os.environ.get("DOCKER_HOST"), None
    try:
        endpoint = find_engine(os.environ)._endpoint
    except ContainerEngineUnavailable:
        require("podman")
        process, endpoint = start_podman(tmp_path_factory.mktemp("podman"))
    os.environ["DOCKER_HOST"] = endpoint
    try:
        docker = Engine(endpoint)
        try:
            import_image(endpoint)
            check_that_containers_run(docker)
        except (FunctionError, AssertionError, OSError) as problem:
            pytest.skip(f"NOT TESTED IN CONTAINERS: the engine at {endpoint} cannot run one: {problem}")
        yield docker
        docker._ask("DELETE", f"/images/{IMAGE}?force=true")
    finally:
        os.environ.pop("DOCKER_HOST") if before is None else os.environ.update(DOCKER_HOST=before)
        if process is not None:
            process.terminate()
            process.wait(60)


def check_that_containers_run(engine):
    container = engine.create("", {"Image": IMAGE, "Cmd": ["--help"]})
    try:
        engine.start(container)
    finally:
        engine.remove(container)


def function(**annotations):
    keys = {f"render.crossplane.io/runtime-docker-{key}": value for key, value in annotations.items()}
    metadata = {
        "name": "f",
        "annotations": {
            RUNTIME: "Docker",
            "render.crossplane.io/runtime-docker-pull-policy": "Never",
            **keys,
        },
    }
    return {"metadata": metadata, "spec": {"package": IMAGE}}


def test_a_function_runs_in_a_container_that_is_removed_afterwards(engine):
    runner = bind(function())
    assert runner(REQUEST, 60.0).tag == REQUEST.tag
    container = runner._container
    published = engine.inspect(container)["NetworkSettings"]["Ports"]["9443/tcp"]
    assert [port["HostIp"] for port in published] == ["127.0.0.1"]
    assert runner(REQUEST, 60.0).tag == REQUEST.tag
    assert runner._container == container
    runner.close()
    assert engine.inspect(container) is None


def test_a_named_container_is_left_running_and_reused(engine):
    name = f"crossply-test-{secrets.token_hex(4)}"
    settings = {"name": name, "cleanup": "Orphan", "env": "GREETING=hello"}
    runner = bind(function(**settings))
    try:
        runner(REQUEST, 60.0)
        container = runner._container
        runner.close()
        state = engine.inspect(name)
        assert state["State"]["Running"]
        assert "GREETING=hello" in state["Config"]["Env"]

        second = bind(function(**{**settings, "cleanup": "Stop"}))
        assert second(REQUEST, 60.0).tag == REQUEST.tag
        assert second._container == container
        second.close()
        assert not engine.inspect(container)["State"]["Running"]

        restarted = bind(function(**{**settings, "cleanup": "Remove"}))
        assert restarted(REQUEST, 60.0).tag == REQUEST.tag
        assert restarted._container == container
        restarted.close()
        assert engine.inspect(container) is None
    finally:
        engine.remove(name)


def test_a_container_that_ends_is_reported_with_its_last_words(engine):
    runner = bind(function(env="PYTHONPATH=/nowhere"))
    with pytest.raises(ContainerFailed) as failed:
        runner(REQUEST, 60.0)
    assert str(failed.value).startswith(
        f'cannot run Function "f": package "{IMAGE}": its container ended with exit code 1'
    )
    assert "No module named 'crossply'" in str(failed.value)
    container = runner._container
    runner.close()
    assert engine.inspect(container) is None


@pytest.mark.parametrize("policy", ["Never", "IfNotPresent"])
def test_an_image_that_is_nowhere_is_named(engine, policy):
    image = "localhost/crossply-test/function-missing:v1"
    runner = bind(function(**{"image": image, "pull-policy": policy}))
    with pytest.raises(ContainerFailed, match="function-missing"):
        runner(REQUEST, 60.0)
    runner.close()


def test_an_address_that_is_no_engine_is_refused(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "ssh://somewhere")
    with pytest.raises(ContainerEngineUnavailable, match="ssh://somewhere"):
        find_engine(os.environ)
