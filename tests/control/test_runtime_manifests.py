"""The objects that run a package on Kubernetes: defaults, what a user's templates change, what is ours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crossply.certificates import FOR_SERVERS
from crossply.control.managed_fields_noop_check import holds_completed
from crossply.control.runtimes.certificate_authority import (
    Lifetimes,
    issued,
    purpose_for,
    read_authorities,
    renew_authority,
)
from crossply.control.runtimes.deployment_runtime import stamp_of
from crossply.control.runtimes.manifest_metadata import Subject
from crossply.control.runtimes.package_runtime_choice import (
    ON_THIS_MACHINE,
    PackageRuntimes,
    UnknownRuntime,
    parse_runtimes,
)
from crossply.control.runtimes.runtime_manifests import (
    account_for,
    deployment_for,
    endpoint_of,
    service_for,
    service_names,
)

OWNER = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "FunctionRevision",
    "name": "fn-0123456789ab",
    "uid": "u-1",
    "controller": True,
    "blockOwnerDeletion": True,
}


def revision(kind="FunctionRevision", name="fn-0123456789ab", package="fn", **spec):
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": kind,
        "metadata": {"name": name, "uid": "u-1", "labels": {"pkg.crossplane.io/package": package}},
        "spec": spec,
    }


def subject(config=None, kind="FunctionRevision", own=True, account_secrets=(), config_secrets=(), **spec):
    return Subject(
        revision(kind, **spec),
        "home",
        config or {},
        own,
        "registry.local/fn@sha256:1",
        config_secrets,
        account_secrets,
    )


def pod_of(deployment):
    return deployment["spec"]["template"]


def runtime_of(deployment):
    return pod_of(deployment)["spec"]["containers"][0]


def test_a_functions_service_is_headless_and_selects_the_pods_of_one_revision():
    service = service_for(subject())
    assert service["metadata"] == {
        "name": "fn-0123456789ab",
        "namespace": "home",
        "ownerReferences": [OWNER],
    }
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {
            "pkg.crossplane.io/revision": "fn-0123456789ab",
            "pkg.crossplane.io/function": "fn",
        },
        "ports": [
            {"name": "grpc", "protocol": "TCP", "port": 9443, "targetPort": "grpc", "appProtocol": "tls"}
        ],
    }
    assert endpoint_of(service) == "dns:///fn-0123456789ab.home:9443"


@pytest.mark.parametrize(
    ("runtime_subject", "name", "why"),
    [
        (subject(own=False), "fn", "one revision is active, and the Service moves to the next"),
        (subject(kind="ProviderRevision"), "fn", "several revisions of a provider are never active"),
        (
            subject({"serviceTemplate": {"metadata": {"name": "mine"}}}),
            "mine",
            "the user's own name is kept",
        ),
    ],
)
def test_the_name_of_a_service(runtime_subject, name, why):
    service = service_for(runtime_subject)
    assert service["metadata"]["name"] == name, why
    assert service_names(service) == (name, f"{name}.home", f"{name}.home.svc")


def test_a_providers_service_has_an_address_and_a_port_for_webhooks():
    spec = service_for(subject(kind="ProviderRevision"))["spec"]
    assert "clusterIP" not in spec
    assert spec["ports"] == [{"name": "webhook", "protocol": "TCP", "port": 9443, "targetPort": "webhook"}]


def test_a_deployment_without_a_config_has_every_default():
    deployment = deployment_for(subject(), "fn-0123456789ab", "fn-tls-server")
    assert deployment["metadata"] == {
        "name": "fn-0123456789ab",
        "namespace": "home",
        "ownerReferences": [OWNER],
    }
    labels = {"pkg.crossplane.io/revision": "fn-0123456789ab", "pkg.crossplane.io/function": "fn"}
    keys = [{"key": key, "path": key} for key in ("tls.crt", "tls.key", "ca.crt")]
    assert deployment["spec"] == {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "serviceAccountName": "fn-0123456789ab",
                "securityContext": {"runAsNonRoot": True, "runAsUser": 2000, "runAsGroup": 2000},
                "volumes": [
                    {"name": "tls-server-certs", "secret": {"secretName": "fn-tls-server", "items": keys}}
                ],
                "containers": [
                    {
                        "name": "package-runtime",
                        "image": "registry.local/fn@sha256:1",
                        "imagePullPolicy": "IfNotPresent",
                        "securityContext": {
                            "runAsNonRoot": True,
                            "runAsUser": 2000,
                            "runAsGroup": 2000,
                            "allowPrivilegeEscalation": False,
                            "privileged": False,
                        },
                        "ports": [
                            {"name": "metrics", "containerPort": 8080},
                            {"name": "grpc", "containerPort": 9443},
                        ],
                        "volumeMounts": [
                            {"name": "tls-server-certs", "readOnly": True, "mountPath": "/tls/server"}
                        ],
                        "env": [
                            {"name": "TLS_SERVER_CERTS_DIR", "value": "/tls/server"},
                            {
                                "name": "FUNCTION_NAME",
                                "valueFrom": {
                                    "fieldRef": {"fieldPath": "metadata.labels['pkg.crossplane.io/function']"}
                                },
                            },
                            {
                                "name": "REVISION_NAME",
                                "valueFrom": {
                                    "fieldRef": {"fieldPath": "metadata.labels['pkg.crossplane.io/revision']"}
                                },
                            },
                            {"name": "REVISION_UID", "value": "u-1"},
                        ],
                    }
                ],
            },
        },
    }


def test_a_provider_gets_more_variables_and_serves_its_metrics():
    deployment = deployment_for(subject(kind="ProviderRevision"), "fn", "fn-tls-server", "fn-tls-client")
    runtime = runtime_of(deployment)
    assert [variable["name"] for variable in runtime["env"]] == [
        "TLS_CLIENT_CERTS_DIR",
        "TLS_SERVER_CERTS_DIR",
        "POD_NAMESPACE",
        "PROVIDER_NAME",
        "REVISION_NAME",
        "REVISION_UID",
        "WEBHOOK_TLS_CERT_DIR",
    ]
    assert runtime["env"][-1]["value"] == "$(TLS_SERVER_CERTS_DIR)"
    assert [port["name"] for port in runtime["ports"]] == ["metrics", "webhook"]
    assert pod_of(deployment)["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "8080",
        "prometheus.io/path": "/metrics",
    }


def with_pod(spec, **metadata):
    return {"deploymentTemplate": {"spec": {"template": {"metadata": metadata, "spec": spec}}}}


def with_runtime(**fields):
    return with_pod({"containers": [{"name": "sidecar"}, {"name": "package-runtime", **fields}]})


@pytest.mark.parametrize(
    ("config", "spec", "field", "value", "why"),
    [
        (with_runtime(image="other:1"), {}, "image", "other:1", "the user's image is used as it is"),
        (with_runtime(imagePullPolicy="Never"), {}, "imagePullPolicy", "Never", "the user's word counts"),
        (
            with_runtime(imagePullPolicy="Never"),
            {"packagePullPolicy": "Always"},
            "imagePullPolicy",
            "Always",
            "the package's word counts more",
        ),
        (
            with_runtime(securityContext={"runAsUser": 7}),
            {},
            "securityContext",
            {"runAsUser": 7},
            "ours is a default as a whole",
        ),
        (
            with_runtime(ports=[{"name": "grpc", "containerPort": 1}]),
            {},
            "ports",
            [{"name": "grpc", "containerPort": 1}, {"name": "metrics", "containerPort": 8080}],
            "ports are added where the name is free",
        ),
    ],
)
def test_a_config_can_change_the_container(config, spec, field, value, why):
    deployment = deployment_for(subject(config, **spec), "fn", "s")
    assert runtime_of(deployment)["name"] == "package-runtime", "it is moved to the front"
    assert [container["name"] for container in pod_of(deployment)["spec"]["containers"][1:]] == ["sidecar"]
    assert runtime_of(deployment)[field] == value, why


def test_environment_is_added_and_ours_counts():
    config = with_runtime(env=[{"name": "MINE", "value": "1"}, {"name": "REVISION_UID", "value": "x"}])
    env = runtime_of(deployment_for(subject(config), "fn", "s"))["env"]
    assert env[0] == {"name": "MINE", "value": "1"}
    assert [variable["value"] for variable in env if variable["name"] == "REVISION_UID"] == ["u-1"]


def test_labels_and_annotations_of_a_template_are_preserved_and_ours_added():
    config = with_pod({}, labels={"a": "b", "pkg.crossplane.io/function": "x"}, annotations={"c": "d"})
    config["deploymentTemplate"]["metadata"] = {"name": "mine", "labels": {"e": "f"}}
    deployment = deployment_for(subject(config), "fn", "s", stamp="1-2")
    assert deployment["metadata"]["name"] == "mine"
    assert deployment["metadata"]["labels"] == {"e": "f"}
    assert pod_of(deployment)["metadata"] == {
        "labels": {
            "a": "b",
            "pkg.crossplane.io/function": "fn",
            "pkg.crossplane.io/revision": "fn-0123456789ab",
        },
        "annotations": {"c": "d", "crossply.dev/certificates": "1-2"},
    }


def test_scraping_can_be_turned_off():
    config = with_pod({}, annotations={"prometheus.io/scrape": "false"})
    deployment = deployment_for(subject(config, kind="ProviderRevision"), "fn", "s")
    assert pod_of(deployment)["metadata"]["annotations"] == {"prometheus.io/scrape": "false"}


def test_pull_secrets_are_those_of_the_package_and_its_image_config():
    config = with_pod({"imagePullSecrets": [{"name": "lost"}]})
    deployment = deployment_for(
        subject(config, config_secrets=("b",), packagePullSecrets=[{"name": "a"}]), "fn", "s"
    )
    assert pod_of(deployment)["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]


def test_a_service_account_has_every_pull_secret_once():
    config = {"serviceAccountTemplate": {"metadata": {"name": "mine", "annotations": {"role": "x"}}}}
    account = account_for(
        subject(config, account_secrets=("b",), packagePullSecrets=[{"name": "a"}]), existing=["c", "a"]
    )
    assert account["metadata"]["name"] == "mine"
    assert account["metadata"]["annotations"] == {"role": "x"}
    assert account["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}, {"name": "c"}]


def test_a_template_with_nulls_is_as_one_without():
    config = {
        "deploymentTemplate": {
            "metadata": None,
            "spec": {"selector": {}, "template": {"metadata": {"creationTimestamp": None}}},
        }
    }
    assert deployment_for(subject(config), "fn", "s") == deployment_for(subject(), "fn", "s")


def test_templates_are_not_changed():
    config = with_runtime(env=[{"name": "A", "value": "1"}])
    before = repr(config)
    deployment_for(subject(config), "fn", "s", stamp="x")
    assert repr(config) == before


@pytest.mark.parametrize(
    ("text", "function", "provider"),
    [
        ("Deployment", "Deployment", "Deployment"),
        ("External", "External", "External"),
        ("Container", "Container", "External"),
        ("Provider=External;Function=Deployment", "Deployment", "External"),
        ("Function=External", "External", "Deployment"),
        ("Function=Container; Provider=External", "Container", "External"),
        ("Function=Container;Provider=Container", "Container", "Container"),
    ],
)
def test_runtimes_are_chosen_for_all_kinds_or_per_kind(text, function, provider):
    assert parse_runtimes(text) == PackageRuntimes(function, provider)


@pytest.mark.parametrize(
    ("text", "function", "provider"),
    [("Container", "Container", "Container"), ("Provider=External", "Container", "External")],
)
def test_on_one_machine_packages_run_in_containers_by_default(text, function, provider):
    assert parse_runtimes(text, ON_THIS_MACHINE) == PackageRuntimes(function, provider)


@pytest.mark.parametrize("text", ["", "Docker", "Function", "Function=", "Plugin=Deployment"])
def test_an_unknown_runtime_is_reported(text):
    with pytest.raises(UnknownRuntime):
        parse_runtimes(text)


NOW = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


def certificate_at(time, files=None):
    authority = files or renew_authority({}, NOW, Lifetimes())
    authorities = read_authorities(authority, time)
    return authority, issued(purpose_for(FOR_SERVERS, ("fn",)), authorities, time, Lifetimes())


def test_pods_are_restarted_for_a_new_certificate_only_when_theirs_is_about_to_expire():
    authority, files = certificate_at(NOW)
    stamp = stamp_of("", files, NOW)
    _, for_more_names = certificate_at(NOW + YEAR / 2, authority)
    assert stamp_of(stamp, for_more_names, NOW + YEAR / 2) == stamp
    _, renewed = certificate_at(NOW + YEAR * 0.7, authority)
    assert stamp_of(stamp, renewed, NOW + YEAR * 0.7) != stamp


def test_pods_are_restarted_when_the_authority_changes():
    _, files = certificate_at(NOW)
    _, others = certificate_at(NOW)
    stamp = stamp_of("", files, NOW)
    assert stamp_of(stamp, others, NOW) != stamp


def completed(deployment):
    """What a server makes of it: defaults in every corner."""
    result = {**deployment, "spec": {**deployment["spec"], "revisionHistoryLimit": 10}}
    pod = {**pod_of(result), "spec": {**pod_of(result)["spec"], "dnsPolicy": "ClusterFirst"}}
    runtime = {**runtime_of(result), "terminationMessagePath": "/dev/termination-log"}
    pod["spec"]["containers"] = [runtime]
    result["spec"]["template"] = pod
    return result


def owned(deployment, fields):
    entry = {"manager": "m", "operation": "Apply", "fieldsV1": fields}
    return {**deployment, "metadata": {**deployment["metadata"], "managedFields": [entry]}}


def test_an_object_with_server_defaults_equals_the_desired_one():
    desired = deployment_for(subject(), "fn", "s")
    live = owned(completed(desired), {"f:spec": {"f:replicas": {}}})
    assert holds_completed(live, desired, "m")
    assert not holds_completed(live, deployment_for(subject(), "other", "s"), "m")


def test_a_removed_field_of_a_container_is_detected():
    env = {"f:env": {'k:{"name":"GONE"}': {".": {}, "f:name": {}}}}
    fields = {
        "f:spec": {
            "f:template": {
                "f:spec": {"f:containers": {'k:{"name":"package-runtime"}': {".": {}, "f:name": {}, **env}}}
            }
        }
    }
    desired = deployment_for(subject(), "fn", "s")
    assert not holds_completed(owned(completed(desired), fields), desired, "m")
