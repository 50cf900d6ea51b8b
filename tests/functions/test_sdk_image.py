"""A function of the published SDK, packaged from its project: in a container, behind mutual TLS."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.launcher_client import close_launcher
from crossply.containers.settings import MEBIBYTE, Limits, Settings
from crossply.errors import CrossplyError
from crossply.functions.daemonless_container_runner import InContainer
from tests.support.function_servers import make_certificates
from tests.support.functions.sdk_image import sdk_image
from tests.support.programs import require
from tests.support.script_images import needs_containers

pytestmark = needs_containers

XR = {"apiVersion": "example.org/v1", "kind": "XGreeting", "spec": {"name": "you", "times": 5.0}}
REQUEST = Request(State(Resource(XR)))


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    yield sdk_image(tmp_path_factory.mktemp("project"))
    close_launcher()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


@pytest.mark.parametrize("engine", ["crun", "runc"])
def test_it_answers_over_mutual_tls_in_both_engines(image, certificates, engine):
    require(engine)
    settings = Settings(
        Limits(memory=256 * MEBIBYTE), tls_certificates=f"{certificates}/server", engine=engine
    )
    runner = InContainer("f", lambda _: image, settings, f"{certificates}/client")
    try:
        assert [result.message for result in runner(REQUEST, 60.0).results] == ["hello you"]
    finally:
        runner.close()


def test_with_too_little_memory_it_is_killed_with_that_error(image):
    runner = InContainer("f", lambda _: image, Settings(Limits(memory=16 * MEBIBYTE)))
    with pytest.raises(CrossplyError) as failed:
        runner(REQUEST, 60.0)
    runner.close()
    assert str(failed.value).startswith('cannot run Function "f": ')
    assert "it exceeded its 16 MiB" in str(failed.value)
