"""A pipeline for every built-in function, on kinds that each control plane has."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from crossply.functions.builtin.catalogue import CATALOGUE
from crossply.functions.builtin.deletion_protection import LABEL
from crossply.functions.builtin.extra_resources import CONTEXT_KEY as EXTRA_KEY
from crossply.functions.field_provenance import ENVIRONMENT_KEY
from crossply.values import Object
from tests.support.e2e.pipelines import SIZE, entry, patch, resources

PYTHON = """
from crossplane.function import resource

def compose(req, rsp):
    spec = resource.struct_to_dict(req.observed.composite.resource)["spec"]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": spec["size"] * 2}}
    resource.update(rsp.desired.resources["python"], body)
    rsp.desired.resources["python"].ready = True
"""
STARLARK = """
size = oxr["spec"]["size"]
Resource("starlark", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size}}, ready = True)
set_xr_status("size", get_observed("starlark", "data.size", "none"))
"""
PYTHONIC = """
class Composite(BaseComposite):
    def compose(self):
        composed = self.resources.pythonic("v1", "ConfigMap")
        composed.data.size = self.spec.size
        composed.ready = True
        self.status.size = composed.observed.data.size
"""
KCL = """
size = option("params").oxr.spec.size
items = [{
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata.annotations = {
        "krm.kcl.dev/composition-resource-name" = "kcl"
        "krm.kcl.dev/ready" = "True"
    }
    data.size = size
}, {**option("params").dxr, status.size = size}]
"""
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: templated
    gotemplating.fn.crossplane.io/ready: "True"
data:
  size: {{ .observed.composite.resource.spec.size | quote }}
  text: {{ %s | toJson | quote }}
"""
HOOK = {
    "matchers": [{"resources": [{"name": "."}], "includeCompositeAsResource": True}],
    "setConditions": [{"condition": {"type": "Seen", "status": "True", "reason": "Looked"}}],
}
DUMMY = {
    "desired": {
        "resources": {"dummy": {"resource": {"apiVersion": "v1", "kind": "ConfigMap"}, "ready": "READY_TRUE"}}
    },
    "results": [{"severity": "SEVERITY_NORMAL", "message": "I did the thing!"}],
}
GRAPH: Object = {
    "apiVersion": "kro.fn.crossplane.io/v1alpha1",
    "kind": "ResourceGraph",
    "status": {"size": "${first.data.size}"},
    "resources": [
        {
            "id": name,
            "template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"size": size}},
            "readyWhen": [f'${{{name}.data.size != ""}}'],
        }
        for name, size in (("first", "${schema.spec.size}"), ("second", "${first.data.size}"))
    ],
}
SIZE_IS_3 = 'observed.composite.resource.spec.size == "3"'
GUARDED = patch(
    "spec.size",
    f'metadata.labels["{LABEL}"]',
    transforms=[{"type": "map", "map": {"3": "true", "4": "false"}}],
)
ONE = resources(entry("one", SIZE, patch("data.size", "status.size", "ToCompositeFieldPath")))


def step(name: str, /, **fields: Any) -> Object:
    """A step that calls a built-in function with this input."""
    about = {"apiVersion": "example.org/v1", "kind": "Input"}
    return {"step": name, "functionRef": {"name": f"function-{name}"}, "input": {**about, **fields}}


def templating(data: str) -> Object:
    """A step that composes a ConfigMap with some of the data of a template in it."""
    return step("go-templating", source="Inline", inline={"template": TEMPLATE % data})


def package_of(name: str) -> str:
    """The package that a built-in function replaces."""
    [function] = [function for function in CATALOGUE if function.name == name]
    return f"{function.package}:{function.version}"


def pipelines(namespace: str) -> dict[str, list[Object]]:
    """For every built-in function a pipeline that it is in; XRs have the size 3, later 4.

    There is none for shell, which a control plane runs only if its operator allows it.
    """
    steps = _programs() | _reading(namespace) | _resources() | _changing()
    return (
        steps if find_spec("kcl_lib") is not None else {name: steps[name] for name in steps if name != "kcl"}
    )


def _programs() -> dict[str, list[Object]]:
    """Functions that run what users wrote."""
    return {
        "go-templating": [templating(".observed.composite.resource.spec")],
        "kcl": [step("kcl", spec={"source": KCL})],
        "kro": [step("kro", **GRAPH)],
        "python": [step("python", script=PYTHON)],
        "pythonic": [step("pythonic", composite=PYTHONIC)],
        "starlark": [step("starlark", spec={"source": STARLARK})],
    }


def _reading(namespace: str) -> dict[str, list[Object]]:
    """Functions that require resources, and steps that show what they got."""
    environment = {"type": "Reference", "ref": {"name": namespace}}
    texts = {"kind": "ConfigMap", "apiVersion": "v1", "into": "texts", "type": "Reference"}
    required = {**texts, "ref": {"name": "texts"}, "namespace": namespace}
    return {
        "environment-configs": [
            step("environment-configs", spec={"environmentConfigs": [environment]}),
            templating(f'index .context "{ENVIRONMENT_KEY}"'),
        ],
        "extra-resources": [
            step("extra-resources", spec={"extraResources": [required]}),
            templating(f'(index (index .context "{EXTRA_KEY}") "texts" 0).data'),
        ],
    }


def _resources() -> dict[str, list[Object]]:
    """Functions that compose resources of their input."""
    either = [entry("three", SIZE, condition=SIZE_IS_3), entry("any", SIZE)]
    return {
        "cidr": [
            step("cidr", cidrFunc="cidrhost", prefix="10.0.0.0/16", hostNum=5, outputField="status.size"),
            templating(".desired.composite.resource.status"),
        ],
        "conditional-patch-and-transform": [step("conditional-patch-and-transform", resources=either)],
        "deletion-protection": [resources(entry("one", SIZE, GUARDED)), step("deletion-protection")],
        "dummy": [step("dummy", response=DUMMY)],
        "patch-and-transform": [ONE],
    }


def _changing() -> dict[str, list[Object]]:
    """Functions that change what earlier steps desire."""
    return {
        "auto-ready": [resources(entry("one", SIZE)), step("auto-ready")],
        "cel-filter": [
            resources(entry("one", SIZE), entry("two", SIZE)),
            step("cel-filter", filters=[{"name": "two", "expression": "false"}]),
        ],
        "sequencer": [
            resources(entry("first", SIZE), entry("second", SIZE)),
            step("sequencer", rules=[{"sequence": ["first", "second"]}]),
        ],
        "status-transformer": [ONE, step("status-transformer", statusConditionHooks=[HOOK])],
        "tag-manager": [ONE, step("tag-manager", addLabels=[{"labels": {"team": "blue"}}])],
    }
