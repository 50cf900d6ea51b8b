"""Defaults that the real server fills in, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.apiserver.builtin_kinds import created, deployment, new, pod_template, read


def test_a_deployment_rolls_out_by_quarters() -> None:
    spec = read(deployment())["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)


def test_a_deployment_that_recreates_has_no_rolling_update() -> None:
    assert read(deployment(strategy={"type": "Recreate"}))["spec"]["strategy"] == {"type": "Recreate"}


def test_a_pod_template_gets_the_defaults_of_pods() -> None:
    spec = read(deployment())["spec"]["template"]["spec"]
    remaining = {key: value for key, value in spec.items() if key != "containers"}
    assert remaining == {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


IMAGES = [
    ("nginx", "Always", "no tag is latest"),
    ("nginx:latest", "Always", "latest may move"),
    ("nginx:1.2", "IfNotPresent", "a tag is taken to stay"),
    ("registry:5000/nginx", "Always", "a port is no tag"),
    ("nginx@sha256:abc", "IfNotPresent", "a digest never moves"),
    ("nginx:latest@sha256:abc", "Always", "a tag is a tag, also before a digest"),
]


@pytest.mark.parametrize(("image", "policy", "reason"), IMAGES)
def test_how_often_an_image_is_pulled_follows_from_its_tag(image: str, policy: str, reason: str) -> None:
    template = pod_template(containers=[{"name": "c", "image": image}])
    container = read(deployment(template=template))["spec"]["template"]["spec"]["containers"][0]
    assert container["imagePullPolicy"] == policy, reason


def test_probes_and_ports_have_defaults_wherever_they_are() -> None:
    container = {
        "name": "c",
        "image": "x:1",
        "ports": [{"containerPort": 80}],
        "livenessProbe": {"httpGet": {"port": 80}},
    }
    built = read(new("v1", "Pod", spec={"containers": [container]}))["spec"]["containers"][0]
    assert built["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert built["livenessProbe"]["httpGet"] == {"path": "/", "port": 80, "scheme": "HTTP"}
    assert built["livenessProbe"]["periodSeconds"] == 10


def test_limits_are_requests_in_a_pod_and_not_in_a_template() -> None:
    container = {"name": "c", "image": "x", "resources": {"limits": {"cpu": "1"}}}
    pod = read(new("v1", "Pod", spec={"containers": [container]}))
    template = read(deployment(template=pod_template(containers=[container])))["spec"]["template"]
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert "requests" not in template["spec"]["containers"][0]["resources"]


def test_a_volume_without_a_source_is_an_empty_directory() -> None:
    volumes = [{"name": "v"}, {"name": "s", "secret": {"secretName": "x"}}]
    spec = read(new("v1", "Pod", spec={"volumes": volumes}))["spec"]
    assert spec["volumes"][0] == {"name": "v", "emptyDir": {}}
    assert spec["volumes"][1]["secret"]["defaultMode"] == 420


def test_a_namespace_is_labelled_with_its_name_and_has_a_finalizer() -> None:
    namespace = created(new("v1", "Namespace", "team", metadata={"labels": {"a": "b"}}))
    assert namespace["metadata"]["labels"] == {"a": "b", "kubernetes.io/metadata.name": "team"}
    assert namespace["spec"] == {"finalizers": ["kubernetes"]}
    assert namespace["status"] == {"phase": "Active"}


def test_texts_of_a_secret_become_data_and_win() -> None:
    secret = created(new("v1", "Secret", data={"a": "eA==", "b": "eQ=="}, stringData={"a": "z"}))
    assert secret["data"] == {"a": "eg==", "b": "eQ=="}
    assert "stringData" not in secret
    assert secret["type"] == "Opaque"


def test_a_job_selects_the_pods_that_carry_its_uid() -> None:
    template = pod_template(restartPolicy="Never")
    job = created(new("batch/v1", "Job", spec={"template": template}, metadata={"uid": "u-1"}))
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-1"}}
    assert job["spec"]["template"]["metadata"]["labels"]["job-name"] == "a"
    assert (job["spec"]["completions"], job["spec"]["backoffLimit"]) == (1, 6)


SERVICES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"ports": [{"port": 80}]}, {"type": "ClusterIP", "internalTrafficPolicy": "Cluster"}, "an inner one"),
    ({"type": "LoadBalancer"}, {"externalTrafficPolicy": "Cluster"}, "what is reached from outside"),
    (
        {"clusterIP": "None", "selector": {"a": "b"}},
        {"clusterIPs": ["None"], "ipFamilies": ["IPv4"]},
        "a headless one",
    ),
    ({"clusterIP": "None"}, {"ipFamilyPolicy": "RequireDualStack"}, "one that could be anything"),
    (
        {"sessionAffinity": "ClientIP"},
        {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
        "affine",
    ),
]


@pytest.mark.parametrize(("spec", "expected", "reason"), SERVICES)
def test_a_service_is_filled_in(spec: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    service_spec = created(new("v1", "Service", spec=spec))["spec"]
    assert {key: service_spec.get(key) for key in expected} == expected, reason


def test_a_service_has_an_address_that_follows_from_its_name() -> None:
    first, same, other = (created(new("v1", "Service", name, spec={}))["spec"] for name in ("a", "a", "b"))
    assert first["clusterIP"] == same["clusterIP"] != other["clusterIP"]
    assert first["clusterIP"].startswith("10.96.")


def test_an_external_name_has_no_address() -> None:
    service = created(new("v1", "Service", spec={"type": "ExternalName", "externalName": "x.y"}))
    assert "clusterIP" not in service["spec"]


def test_a_webhook_is_equivalent_and_fails_closed() -> None:
    kind = "MutatingWebhookConfiguration"
    configuration = read(
        new("admissionregistration.k8s.io/v1", kind, webhooks=[{"name": "a.b.c", "rules": [{}]}])
    )
    webhook = configuration["webhooks"][0]
    assert (webhook["failurePolicy"], webhook["matchPolicy"]) == ("Fail", "Equivalent")
    assert webhook["reinvocationPolicy"] == "Never"
    assert webhook["rules"][0]["scope"] == "*"


def test_defaults_of_one_object_are_not_shared_with_another() -> None:
    first, other = (created(new("storage.k8s.io/v1", "CSIDriver", spec={})) for _ in range(2))
    first["spec"]["volumeLifecycleModes"].append("Ephemeral")
    assert other["spec"]["volumeLifecycleModes"] == ["Persistent"]
