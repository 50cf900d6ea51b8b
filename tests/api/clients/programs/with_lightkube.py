"""lightkube: typed and generic resources, apply, watches, errors."""
# ruff: noqa: PT017 - this is no test for pytest but a program that one runs

from __future__ import annotations

import sys

from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import CascadeType, PatchType

namespace, group, plural = sys.argv[1:4]
client = Client(namespace=namespace, field_manager="lightkube")

client.create(ConfigMap(metadata=ObjectMeta(name="one", labels={"a": "b"}), data={"k": "v"}))
assert client.get(ConfigMap, "one").data == {"k": "v"}
client.patch(ConfigMap, "one", {"data": {"k2": "v2"}}, patch_type=PatchType.MERGE)
assert [result.metadata.name for result in client.list(ConfigMap, labels={"a": "b"}, chunk_size=1)] == ["one"]
assert client.get(Namespace, namespace).status.phase == "Active"
stale = client.get(ConfigMap, "one")
client.patch(ConfigMap, "one", {"data": {"k3": "v3"}})
try:
    client.replace(stale)
    raise AssertionError("a stale object was taken")
except ApiError as refused:
    assert refused.status.code == 409, refused
    assert refused.status.reason == "Conflict"

Widget = create_namespaced_resource(group, "v1", "Widget", plural)
listed = client.list(Widget)
assert list(listed) == []
start = listed.resourceVersion
client.apply(Widget(metadata=ObjectMeta(name="w", namespace=namespace), spec={"size": 1}))
client.apply(Widget(metadata=ObjectMeta(name="w", namespace=namespace), spec={"size": 2}))
client.delete(Widget, "w", cascade=CascadeType.FOREGROUND)
events = []
for kind, obj in client.watch(Widget, resource_version=start, server_timeout=10):
    events.append((kind, obj.metadata.name))
    if kind == "DELETED":
        break
assert events[0] == ("ADDED", "w"), events
assert ("MODIFIED", "w") in events
try:
    client.get(Widget, "none")
    raise AssertionError("what is not there was found")
except ApiError as refused:
    assert refused.status.code == 404
print("ok")
