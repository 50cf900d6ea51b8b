"""How containers of functions run, by RuntimeConfig or DeploymentRuntimeConfig."""

from __future__ import annotations

import pytest

from crossply.containers.settings import MEBIBYTE, RUNNER, Limits, Settings
from crossply.control.definitions.container_config_crd import CONTAINER_CONFIG
from crossply.control.definitions.core_crds import core_crds
from crossply.control.runtimes.container_settings import ContainerChoice, read_config, read_deployment_config
from crossply.control.runtimes.runtime_config_selection import NoRuntimeConfig


def pod(*containers):
    return {"deploymentTemplate": {"spec": {"template": {"spec": {"containers": list(containers)}}}}}


def test_no_config_means_the_defaults():
    for choice in (
        read_config(None),
        read_config({}),
        read_deployment_config({}),
        read_deployment_config(pod()),
    ):
        assert choice == ContainerChoice(Settings())


def test_every_field_of_a_runtime_config_counts():
    choice = read_config(
        {
            "limits": {"memory": "256Mi", "cpu": "1500m", "pids": 20, "scratch": "8Mi"},
            "network": "Runner",
            "args": ["--debug"],
            "env": [{"name": "A", "value": "b"}, {"name": "EMPTY"}],
            "idleSeconds": 5,
            "startSeconds": 7,
            "warm": True,
        }
    )
    settings = Settings(
        limits=Limits(256 * MEBIBYTE, 1.5, 20, 8 * MEBIBYTE),
        network=RUNNER,
        arguments=("--debug",),
        environment=("A=b", "EMPTY="),
        idle_seconds=5.0,
        start_seconds=7.0,
    )
    assert choice == ContainerChoice(settings, warm=True)


def test_a_deployment_runtime_config_counts_for_the_container_of_the_function():
    variables = [{"name": "A", "value": "b"}, {"name": "FROM", "valueFrom": {"fieldRef": {}}}]
    limits = {"memory": 67108864, "cpu": "0.5"}
    container = {"name": "package-runtime", "resources": {"limits": limits}, "args": ["-d"], "env": variables}
    choice = read_deployment_config(pod({"name": "sidecar", "args": ["--other"]}, container))
    assert choice.settings.limits == Limits(64 * MEBIBYTE, 0.5, 512, 64 * MEBIBYTE)
    assert (choice.settings.arguments, choice.settings.environment) == (("-d",), ("A=b",))


def test_there_is_no_more_room_for_files_than_there_is_memory():
    assert read_config({"limits": {"memory": "16Mi"}}).settings.limits.scratch == 16 * MEBIBYTE


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"limits": {"memory": "lots"}}, "spec.limits.memory"),
        ({"limits": {"cpu": 0}}, "spec.limits.cpu: must be more than nothing"),
        ({"limits": []}, "spec.limits: must be an object"),
        ({"args": "x"}, "spec.args: must be a list"),
        ("x", "spec: must be an object"),
    ],
)
def test_an_invalid_field_is_named(spec, message):
    with pytest.raises(NoRuntimeConfig) as refused:
        read_config(spec)
    assert message in str(refused.value)


def test_its_crd_is_installed_with_the_others():
    assert CONTAINER_CONFIG.resource in {crd["metadata"]["name"] for crd in core_crds()}
