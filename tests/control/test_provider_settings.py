"""The container of a Provider on this machine: what it has as a Pod would, and which network."""

from __future__ import annotations

import pytest

from crossply.containers.pasta import PortForwards
from crossply.containers.settings import OWN, RUNNER, Limits, Settings
from crossply.control.runtimes import provider_network_isolation
from crossply.control.runtimes.manifest_metadata import Subject
from crossply.control.runtimes.provider_container import LIMITS, provider_settings
from crossply.control.runtimes.provider_network_isolation import ProviderNetwork
from crossply.control.runtimes.service_account_files import ProviderFiles

SUBJECT = Subject(
    {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "ProviderRevision",
        "metadata": {
            "name": "provider-x-1",
            "uid": "u",
            "labels": {"pkg.crossplane.io/package": "provider-x"},
        },
        "spec": {},
    },
    "crossplane-system",
    {},
)


@pytest.fixture
def pasta(monkeypatch):
    monkeypatch.setattr(provider_network_isolation, "find_pasta", lambda _: "/usr/bin/pasta")


def settings(chosen=Settings(), network=ProviderNetwork()):  # noqa: B008 - both are immutable
    return provider_settings(SUBJECT, ProviderFiles("/data/x"), chosen, "https://127.0.0.1:6443", network)


@pytest.mark.usefixtures("pasta")
def test_a_provider_has_the_environment_of_its_pod():
    container_settings = settings(Settings(environment=("DEBUG=1",), arguments=("--debug",)))
    assert {mount.target for mount in container_settings.mounts} == {
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/tls/server",
        "/tls/client",
    }
    assert dict(variable.split("=") for variable in container_settings.environment) == {
        "POD_NAMESPACE": "crossplane-system",
        "PROVIDER_NAME": "provider-x",
        "REVISION_NAME": "provider-x-1",
        "REVISION_UID": "u",
        "TLS_CLIENT_CERTS_DIR": "/tls/client",
        "TLS_SERVER_CERTS_DIR": "/tls/server",
        "WEBHOOK_TLS_CERT_DIR": "/tls/server",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "KUBERNETES_SERVICE_PORT_HTTPS": "6443",
        "DEBUG": "1",
    }
    assert container_settings.arguments == ("--debug",)


@pytest.mark.usefixtures("pasta")
def test_it_reaches_the_api_server_and_the_ports_that_the_operator_names():
    container_settings = settings(network=ProviderNetwork(host_ports=(5432,)))
    assert container_settings.network == OWN
    assert container_settings.forwards == PortForwards((6443, 5432), ((0, 9443),))


@pytest.mark.parametrize(
    ("chosen", "limits"),
    [(Settings(), LIMITS), (Settings(limits=Limits(memory=1 << 20)), Limits(memory=1 << 20))],
)
def test_its_limits_are_generous_by_default(chosen, limits):
    assert settings(chosen).limits == limits


def test_without_pasta_it_uses_the_network_of_this_machine_with_a_warning(monkeypatch):
    monkeypatch.setattr(provider_network_isolation, "find_pasta", lambda _: "")
    assert settings().network == RUNNER
    condition = ProviderNetwork().condition("")
    assert (condition.status, condition.reason) == ("False", "NetworkOfThisMachine")
    assert "apt-get install passt" in condition.message


@pytest.mark.usefixtures("pasta")
@pytest.mark.parametrize(
    ("network", "problem", "status", "message"),
    [
        (ProviderNetwork(), "", "True", ""),
        (ProviderNetwork(), "there is no route", "False", "there is no route, so the provider uses"),
        (ProviderNetwork(own=False), "", "False", "as --provider-network says"),
    ],
)
def test_the_condition_names_the_network(network, problem, status, message):
    condition = network.condition(problem)
    assert condition.status == status
    assert condition.message.startswith(message)
