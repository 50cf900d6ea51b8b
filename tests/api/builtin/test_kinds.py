"""Built-in kinds: their defaults and the rules that they keep."""

from __future__ import annotations

import base64

import pytest

from tests.support.api.collection import Collection

LABELS = {"app": "x"}
POD = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}


def of(admin, ns, api_version, kind, plural):
    return Collection(admin, api_version, kind, plural, ns)


@pytest.fixture
def secrets(admin, ns):
    return of(admin, ns, "v1", "Secret", "secrets")


def test_texts_of_a_secret_are_encoded(secrets):
    created = secrets.create("one", stringData={"a": "text"}, data={"b": "aGk="})
    assert created["data"] == {"a": base64.b64encode(b"text").decode(), "b": "aGk="}
    assert "stringData" not in created
    assert created["type"] == "Opaque"


def test_data_of_a_secret_must_be_base64(secrets):
    answer = secrets.post(secrets.object("one", data={"a": "***"}))
    assert answer.status == 400
    assert answer.message == (
        'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0'
    )


def test_the_type_of_a_secret_cannot_change(secrets):
    secrets.create("one", type="example.org/a")
    secrets.merge("one", {"type": "example.org/b"}).refused(
        422, "Invalid", 'Secret "one" is invalid: type: Invalid value: "example.org/b": field is immutable'
    )


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("kubernetes.io/tls", ["data[tls.crt]", "data[tls.key]"]),
        ("kubernetes.io/basic-auth", ["data[username]", "data[password]"]),
        ("kubernetes.io/ssh-auth", ["data[ssh-privatekey]"]),
        ("kubernetes.io/dockerconfigjson", ["data[.dockerconfigjson]"]),
    ],
)
def test_secrets_of_known_types_need_their_keys(secrets, kind, fields):
    answer = secrets.post(secrets.object("one", type=kind))
    assert answer.status == 422
    assert [(cause["field"], cause["message"]) for cause in answer.causes] == [
        (field, "Required value") for field in fields
    ]


def test_an_immutable_secret_stays(secrets):
    secrets.create("one", data={"a": "aGk="}, immutable=True)
    secrets.merge("one", {"data": {"a": "aG8="}}).refused(
        422, "Invalid", 'Secret "one" is invalid: data: Forbidden: field is immutable when `immutable` is set'
    )


def test_keys_of_config_maps_are_checked(configmaps):
    answer = configmaps.post(configmaps.object("one", data={"a/b": "x"}))
    assert answer.status == 422
    assert answer.causes[0]["field"] == "data[a/b]"
    assert answer.causes[0]["message"].startswith(
        "Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    )


def test_binary_data_and_data_share_keys(configmaps):
    answer = configmaps.post(configmaps.object("one", data={"a": "x"}, binaryData={"a": "aGk="}))
    assert answer.status == 422
    assert answer.causes == [
        {
            "reason": "FieldValueInvalid",
            "message": 'Invalid value: "a": duplicate of key present in binaryData',
            "field": "data[a]",
        }
    ]


def test_a_service_gets_defaults(admin, ns):
    created = of(admin, ns, "v1", "Service", "services").create(
        "one", spec={"ports": [{"port": 80}], "selector": LABELS}
    )
    spec = created["spec"]
    assert spec["type"] == "ClusterIP"
    assert spec["sessionAffinity"] == "None"
    assert spec["ports"] == [{"protocol": "TCP", "port": 80, "targetPort": 80}]
    assert spec["internalTrafficPolicy"] == "Cluster"
    assert spec["clusterIP"]
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert created["status"] == {"loadBalancer": {}}


def test_a_headless_service_keeps_having_no_address(admin, ns):
    spec = {"ports": [{"port": 80}], "clusterIP": "None"}
    assert of(admin, ns, "v1", "Service", "services").create("one", spec=spec)["spec"]["clusterIP"] == "None"


def test_addresses_of_services_differ(admin, ns):
    services = of(admin, ns, "v1", "Service", "services")
    created = [
        services.create(name, spec={"ports": [{"port": 80}]})["spec"]["clusterIP"] for name in ("a", "b")
    ]
    assert created[0] != created[1]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"ports": [{"port": 0}]}, "spec.ports[0].port"),
        ({"ports": [{"port": 70000}]}, "spec.ports[0].port"),
        ({"ports": [{"port": 80}, {"port": 81}]}, "spec.ports[0].name"),
        ({"ports": [{"port": 80, "protocol": "XX"}]}, "spec.ports[0].protocol"),
        ({"type": "Nonsense", "ports": [{"port": 80}]}, "spec.type"),
        ({"ports": []}, "spec.ports"),
    ],
)
def test_bad_services_are_refused(admin, ns, spec, field):
    services = of(admin, ns, "v1", "Service", "services")
    answer = services.post(services.object("one", spec=spec))
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]


def test_a_deployment_gets_defaults(admin, ns):
    deployments = of(admin, ns, "apps/v1", "Deployment", "deployments")
    spec = deployments.create("one", spec={"selector": {"matchLabels": LABELS}, "template": TEMPLATE})["spec"]
    assert spec["replicas"] == 1
    assert spec["revisionHistoryLimit"] == 10
    assert spec["progressDeadlineSeconds"] == 600
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Always"
    assert pod["dnsPolicy"] == "ClusterFirst"
    assert pod["terminationGracePeriodSeconds"] == 30
    assert pod["containers"][0]["imagePullPolicy"] == "Always"
    assert pod["containers"][0]["terminationMessagePath"] == "/dev/termination-log"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"template": TEMPLATE}, "spec.selector"),
        (
            {"selector": {"matchLabels": {"other": "y"}}, "template": TEMPLATE},
            "spec.template.metadata.labels",
        ),
        (
            {
                "selector": {"matchLabels": LABELS},
                "template": {"metadata": {"labels": LABELS}, "spec": {"containers": []}},
            },
            "spec.template.spec.containers",
        ),
        ({"replicas": -1, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}, "spec.replicas"),
    ],
    ids=["no selector", "labels", "no containers", "replicas"],
)
def test_bad_deployments_are_refused(admin, ns, spec, field):
    deployments = of(admin, ns, "apps/v1", "Deployment", "deployments")
    answer = deployments.post(deployments.object("one", spec=spec))
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]


def test_the_selector_of_a_deployment_cannot_change(admin, ns):
    deployments = of(admin, ns, "apps/v1", "Deployment", "deployments")
    deployments.create("one", spec={"selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    labels = {"matchLabels": {"app": "x", "b": "y"}}
    template = {"metadata": {"labels": {"app": "x", "b": "y"}}}
    answer = deployments.merge("one", {"spec": {"selector": labels, "template": template}})
    assert answer.status == 422
    assert answer.causes[0]["field"] == "spec.selector"
    assert answer.causes[0]["message"].endswith("field is immutable")


STORED = [
    ("v1", "Pod", "pods", {"spec": POD}),
    (
        "v1",
        "Endpoints",
        "endpoints",
        {"subsets": [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}]},
    ),
    (
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    ),
    (
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        {"spec": {"serviceName": "s", "selector": {"matchLabels": LABELS}, "template": TEMPLATE}},
    ),
    (
        "apps/v1",
        "DaemonSet",
        "daemonsets",
        {"spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}},
    ),
    ("batch/v1", "Job", "jobs", {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}),
    (
        "networking.k8s.io/v1",
        "Ingress",
        "ingresses",
        {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    ),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", {"spec": {"podSelector": {}}}),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
                "maxReplicas": 3,
            }
        },
    ),
    (
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        {"spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}},
    ),
    (
        "coordination.k8s.io/v1",
        "Lease",
        "leases",
        {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 10}},
    ),
    (
        "discovery.k8s.io/v1",
        "EndpointSlice",
        "endpointslices",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.1.1"]}], "ports": [{"port": 80}]},
    ),
    ("v1", "ServiceAccount", "serviceaccounts", {}),
    (
        "rbac.authorization.k8s.io/v1",
        "Role",
        "roles",
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    ),
]


@pytest.mark.parametrize(("api_version", "kind", "plural", "fields"), STORED, ids=[row[1] for row in STORED])
def test_kinds_are_created_read_changed_listed_and_deleted(admin, ns, api_version, kind, plural, fields):
    remaining = of(admin, ns, api_version, kind, plural)
    created = remaining.create("one", **fields)
    assert (created["kind"], created["apiVersion"]) == (kind, api_version)
    assert remaining.read("one")["metadata"]["uid"] == created["metadata"]["uid"]
    changed = remaining.merge("one", {"metadata": {"labels": {"a": "b"}}}).ok(200)
    assert changed["metadata"]["labels"]["a"] == "b"
    assert "one" in remaining.list(labelSelector="a=b").names
    remaining.delete("one", propagationPolicy="Background", gracePeriodSeconds=0).ok(200)
    if kind != "PersistentVolumeClaim":
        assert remaining.get("one").status == 404
    else:
        remaining.merge("one", {"metadata": {"finalizers": None}})


def test_a_job_gets_a_selector(admin, ns):
    jobs = of(admin, ns, "batch/v1", "Job", "jobs")
    spec = jobs.create("one", spec={"template": {"spec": {**POD, "restartPolicy": "Never"}}})["spec"]
    assert spec["backoffLimit"] == 6
    assert spec["completions"] == 1
    assert spec["parallelism"] == 1
    assert "batch.kubernetes.io/controller-uid" in spec["selector"]["matchLabels"]


def test_a_pod_gets_defaults(admin, ns):
    pod = of(admin, ns, "v1", "Pod", "pods").create("one", spec=POD)
    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["qosClass"] == "BestEffort"
    assert pod["spec"]["enableServiceLinks"] is True
    of(admin, ns, "v1", "Pod", "pods").delete("one", gracePeriodSeconds=0)


def test_the_spec_of_a_pod_hardly_changes(admin, ns):
    pods = of(admin, ns, "v1", "Pod", "pods")
    pods.create("one", spec=POD)
    assert pods.strategic("one", {"spec": {"containers": [{"name": "c", "image": "j"}]}}).status == 200
    answer = pods.merge("one", {"spec": {"hostname": "h"}})
    assert answer.status == 422
    assert answer.causes[0]["message"].startswith(
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    )
    pods.delete("one", gracePeriodSeconds=0)


def test_events_are_served_by_both_groups(admin, ns):
    core = of(admin, ns, "v1", "Event", "events")
    core.create(
        "one",
        involvedObject={"kind": "ConfigMap", "name": "x", "namespace": ns},
        reason="R",
        message="M",
        type="Normal",
    )
    observed = of(admin, ns, "events.k8s.io/v1", "Event", "events").read("one")
    assert observed["apiVersion"] == "events.k8s.io/v1"
    assert observed["regarding"]["name"] == "x"
    assert observed["note"] == "M"


def test_an_event_must_be_about_its_namespace(admin, ns):
    core = of(admin, ns, "v1", "Event", "events")
    answer = core.post(
        core.object("one", involvedObject={"kind": "ConfigMap", "name": "x", "namespace": "other"})
    )
    assert answer.status == 422
    assert answer.causes[0]["field"] == "involvedObject.namespace"


def test_autoscalers_are_served_at_both_versions(admin, ns):
    created = of(admin, ns, "autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers").create(
        "one",
        spec={
            "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "maxReplicas": 3,
        },
    )
    assert created["spec"]["minReplicas"] == 1
    observed = of(admin, ns, "autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers").read(
        "one"
    )
    assert observed["spec"]["maxReplicas"] == 3


def test_api_services_are_listed(admin, server):
    services = Collection(admin, "apiregistration.k8s.io/v1", "APIService", "apiservices")
    names = services.list().names
    if server.kind == "embedded":
        pytest.skip("on purpose: there is nothing to aggregate, so no APIService stands for our own groups")
    assert "v1." in names


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/apis/storage.k8s.io/v1/storageclasses", "StorageClassList"),
        ("/api/v1/nodes", "NodeList"),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", "PriorityClassList"),
        ("/api/v1/persistentvolumes", "PersistentVolumeList"),
    ],
)
def test_cluster_kinds_can_be_listed(admin, path, kind):
    assert admin.get(path).ok(200)["kind"] == kind
