"""A small platform as people write one: a Shop composes a Database and web servers, by three functions.

A shop with more than five web servers fails in the step `web-servers`. One with a large database is never
ready, because the settings that its Database composes are not.
"""

from __future__ import annotations

from crossply.values import Object

GROUP = "shop.example.org"
VERSION = f"{GROUP}/v1"


def function(name: str) -> Object:
    """A function that is built in."""
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name},
        "spec": {"package": f"xpkg.crossplane.io/crossplane-contrib/{name}:v0.9.0"},
    }


def _definition(kind: str, plural: str, spec: Object, required: list[str]) -> Object:
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "referenceable": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {"type": "object", "properties": spec, "required": required},
                                "status": {
                                    "type": "object",
                                    "properties": {"address": {"type": "string"}},
                                },
                            },
                        }
                    },
                }
            ],
        },
    }


SHOPS = _definition(
    "Shop",
    "shops",
    {
        "region": {
            "type": "string",
            "description": "Where the shop runs.",
            "enum": ["eu-west", "us-east"],
        },
        "replicas": {
            "type": "integer",
            "description": "How many web servers answer.",
            "default": 2,
            "minimum": 1,
            "maximum": 9,
        },
        "public": {"type": "boolean", "description": "Whether the internet can reach it."},
        "domains": {"type": "array", "items": {"type": "string"}, "description": "Under which names."},
        "database": {
            "type": "object",
            "description": "Where orders are kept.",
            "properties": {
                "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
                "backups": {"type": "integer", "default": 7, "description": "Days that backups are kept."},
            },
        },
    },
    ["region"],
)
DATABASES = _definition(
    "Database",
    "databases",
    {"size": {"type": "string"}, "region": {"type": "string"}},
    ["size"],
)

WEB_TEMPLATE = """\
{{- $xr := .observed.composite.resource }}
{{- if gt (int $xr.spec.replicas) 5 }}{{ fail "more than 5 web servers need an approval" }}{{ end }}
{{- range $i := until (int $xr.spec.replicas) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: web-{{ $i }}
    gotemplating.fn.crossplane.io/ready: "True"
  labels:
    app: {{ $xr.metadata.name }}
data:
  region: {{ $xr.spec.region }}
  server: "{{ $i }}"
{{- end }}
"""


def _composition(name: str, kind: str, pipeline: list[Object]) -> Object:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": VERSION, "kind": kind},
            "mode": "Pipeline",
            "pipeline": pipeline,
        },
    }


def patch_and_transform(step: str, *resources: Object) -> Object:
    """A step of function-patch-and-transform."""
    return {
        "step": step,
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {
            "apiVersion": "pt.fn.crossplane.io/v1beta1",
            "kind": "Resources",
            "resources": list(resources),
        },
    }


def from_composite(source: str, target: str, required: bool = False) -> Object:
    """A patch from the composite resource."""
    policy = {"policy": {"fromFieldPath": "Required"}} if required else {}
    return {"type": "FromCompositeFieldPath", "fromFieldPath": source, "toFieldPath": target, **policy}


DATABASE = {
    "name": "database",
    "base": {"apiVersion": VERSION, "kind": "Database", "spec": {"size": "small"}},
    "patches": [
        from_composite("spec.database.size", "spec.size"),
        from_composite("spec.region", "spec.region"),
    ],
}
AUTO_READY = {"step": "ready", "functionRef": {"name": "function-auto-ready"}}

WEB: Object = {
    "step": "web-servers",
    "functionRef": {"name": "function-go-templating"},
    "input": {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": WEB_TEMPLATE},
    },
}
SHOP_COMPOSITION = _composition("shop", "Shop", [patch_and_transform("data", DATABASE), WEB, AUTO_READY])
DATABASE_COMPOSITION = _composition(
    "database",
    "Database",
    [
        patch_and_transform(
            "tables",
            {
                "name": "settings",
                "base": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"engine": "sqlite"}},
                "patches": [from_composite("spec.size", "data.size", required=True)],
                "readinessChecks": [
                    {"type": "MatchString", "fieldPath": "data.size", "matchString": "small"}
                ],
            },
        ),
    ],
)
FUNCTIONS = [
    function(name)
    for name in ("function-patch-and-transform", "function-go-templating", "function-auto-ready")
]


def shop(name: str, namespace: str = "default", **spec: object) -> Object:
    """A Shop in eu-west, or with this `spec`."""
    return {
        "apiVersion": VERSION,
        "kind": "Shop",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"region": "eu-west", **spec},
    }


BAKERY = shop("bakery", replicas=3, domains=["bakery.example.org"], public=True)
"""Ready."""
CINEMA = shop("cinema", region="us-east", database={"size": "large"})
"""Not ready: its Database is not."""
ARCADE = shop("arcade", replicas=7)
"""Failing: too many web servers."""
KIOSK = shop("kiosk", replicas=1)
KIOSK["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
"""Paused."""
STORES = (BAKERY, CINEMA, ARCADE, KIOSK)


def operation(name: str, template: str) -> Object:
    """An Operation of one step that applies what a template makes."""
    return {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "Operation",
        "metadata": {"name": name},
        "spec": {"mode": "Pipeline", "retryLimit": 1, "pipeline": [_operation_step(template)]},
    }


def _operation_step(template: str) -> Object:
    inline = {"source": "Inline", "inline": {"template": template}}
    return {**WEB, "step": "write", "input": {**WEB["input"], **inline}}


REPORT = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: report
  namespace: default
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: report}
data: {shops: "4"}
"""
NIGHTLY = {
    "apiVersion": "ops.crossplane.io/v1alpha1",
    "kind": "CronOperation",
    "metadata": {"name": "nightly-report"},
    "spec": {
        "schedule": "0 3 * * *",
        "operationTemplate": {"spec": operation("", REPORT)["spec"]},
    },
}
