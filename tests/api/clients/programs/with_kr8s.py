"""kr8s: objects with methods, apply, watches, waiting."""

from __future__ import annotations

import sys

import kr8s
from kr8s.objects import ConfigMap, Deployment, new_class

namespace, group, plural = sys.argv[1:4]
api = kr8s.api(namespace=namespace)

config_map = ConfigMap({"metadata": {"name": "one", "namespace": namespace}, "data": {"k": "v"}}, api=api)
config_map.create()
assert config_map.exists()
config_map.patch({"data": {"k2": "v2"}})
config_map.refresh()
assert config_map.raw["data"] == {"k": "v", "k2": "v2"}
config_map.label({"a": "b"})
assert [
    result.name for result in kr8s.get("configmaps", namespace=namespace, label_selector="a=b", api=api)
] == ["one"]

labels = {"app": "x"}
deployment = Deployment(
    {
        "metadata": {"name": "d", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    },
    api=api,
)
deployment.create()
deployment.patch({"spec": {"replicas": 4}}, subresource="scale")
deployment.refresh()
assert deployment.replicas == 4

Widget = new_class(kind="Widget", version=f"{group}/v1", plural=plural, namespaced=True)
widget = Widget({"metadata": {"name": "w", "namespace": namespace}, "spec": {"size": 1}}, api=api)
widget.create()
for kind, watched in api.watch(f"{plural}.{group}", namespace=namespace):
    assert (kind, watched.name) == ("ADDED", "w")
    break
widget.patch({"status": {"phase": "Ready"}}, subresource="status")
widget.wait("jsonpath='{.status.phase}'=Ready", timeout=10)
widget.delete()
widget.wait("delete", timeout=10)
assert not widget.exists()
try:
    ConfigMap.get("none", namespace=namespace, api=api)
    raise AssertionError("what is not there was found")
except kr8s.NotFoundError:
    print("ok")
