"""The official Python client: built-in and custom objects, watches, patches, apply, errors."""
# ruff: noqa: PT017 - this is no test for pytest but a program that one runs

from __future__ import annotations

import sys

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

namespace, group, plural = sys.argv[1:4]
config.load_kube_config()
core, apps, custom = client.CoreV1Api(), client.AppsV1Api(), client.CustomObjectsApi()

# Built-in objects.
config_map = core.create_namespaced_config_map(
    namespace,
    client.V1ConfigMap(metadata=client.V1ObjectMeta(name="one", labels={"a": "b"}), data={"k": "v"}),
)
assert config_map.metadata.uid
assert core.read_namespaced_config_map("one", namespace).data == {"k": "v"}
core.patch_namespaced_config_map("one", namespace, {"data": {"k2": "v2"}})
assert core.read_namespaced_config_map("one", namespace).data == {"k": "v", "k2": "v2"}
listed = core.list_namespaced_config_map(namespace, label_selector="a=b")
assert [item.metadata.name for item in listed.items] == ["one"]
config_map.data = {"stale": "yes"}
try:
    core.replace_namespaced_config_map("one", namespace, config_map)
    raise AssertionError("a stale object was taken")
except ApiException as refused:
    assert (refused.status, refused.reason) == (409, "Conflict"), refused

# A deployment, read back as typed objects.
labels = {"app": "x"}
template = client.V1PodTemplateSpec(
    metadata=client.V1ObjectMeta(labels=labels),
    spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i")]),
)
spec = client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)
apps.create_namespaced_deployment(
    namespace, client.V1Deployment(metadata=client.V1ObjectMeta(name="d"), spec=spec)
)
assert apps.read_namespaced_deployment("d", namespace).spec.strategy.rolling_update.max_surge == "25%"
apps.patch_namespaced_deployment_scale("d", namespace, {"spec": {"replicas": 3}})
assert apps.read_namespaced_deployment_scale("d", namespace).spec.replicas == 3

# Custom objects and a watch over them.
body = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
start = custom.list_namespaced_custom_object(group, "v1", namespace, plural)["metadata"]["resourceVersion"]
custom.create_namespaced_custom_object(group, "v1", namespace, plural, body)
custom.patch_namespaced_custom_object(group, "v1", namespace, plural, "w", {"spec": {"size": 2}})
custom.patch_namespaced_custom_object_status(group, "v1", namespace, plural, "w", {"status": {"phase": "Up"}})
custom.delete_namespaced_custom_object(group, "v1", namespace, plural, "w")
event_types = []
for event in watch.Watch().stream(
    custom.list_namespaced_custom_object,
    group,
    "v1",
    namespace,
    plural,
    resource_version=start,
    timeout_seconds=10,
):
    event_types.append(event["type"])
    if len(event_types) == 4:
        break
assert event_types == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"], event_types

# The dynamic client discovers, and applies on the server.
dyn = dynamic.DynamicClient(client.ApiClient())
widgets = dyn.resources.get(api_version=f"{group}/v1", kind="Widget")
body["metadata"] = {"name": "applied", "namespace": namespace}
applied = widgets.server_side_apply(body=body, field_manager="me", namespace=namespace)
assert applied.metadata.managedFields[0].manager == "me"
assert widgets.get(name="applied", namespace=namespace).spec.size == 1

# Files of several objects, and reviews.
utils.create_from_dict(
    client.ApiClient(),
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": namespace},
        "stringData": {"a": "b"},
    },
)
assert core.read_namespaced_secret("s", namespace).data == {"a": "Yg=="}
review = client.AuthorizationV1Api().create_self_subject_access_review(
    {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": namespace}}}
)
assert review.status.allowed
assert client.VersionApi().get_code().major == "1"
print("ok")
