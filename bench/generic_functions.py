"""How many calls a second functions with users' programs answer, warm: CEL, KCL, kro, Starlark, Python …

Each is asked about the same small XR, and made to desire fifty resources of it where it composes. The
yardsticks are plain Python on the same machine in the same run, and an empty program in a confined process:
the cost of the question and answer alone.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import SEVERITY_NORMAL, Request, Resource, Response, State
from crossply.functions.builtin import load
from crossply.functions.builtin.sandbox.pool import ask
from crossply.values.protobuf_struct import to_wire
from machine import loop_per_second, per_second

RESOURCES = 50

STARLARK_CALLS = """
for number in range(oxr["spec"]["count"]):
    Resource("bucket-%d" % number, {
        "apiVersion": "s3.example.org/v1",
        "kind": "Bucket",
        "metadata": {"labels": {"team": get(oxr, "spec.team", "platform")}},
        "spec": {"forProvider": {"region": oxr["spec"]["region"], "tags": {"a": "b", "c": "d"}}},
    }, ready = True)
"""
STARLARK_MAIN = """
def main(req):
    xr = req["observed"]["composite"]["resource"]
    resources = {}
    for number in range(xr["spec"]["count"]):
        resources["bucket-%d" % number] = {"ready": 1, "resource": {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "metadata": {"labels": {"team": xr["spec"]["team"]}},
            "spec": {"forProvider": {"region": xr["spec"]["region"], "tags": {"a": "b", "c": "d"}}},
        }}
    return {"desired": {"resources": resources}}
"""
PYTHON = """
from crossplane.function import resource

def compose(req, rsp):
    spec = resource.struct_to_dict(req.observed.composite.resource)["spec"]
    for number in range(int(spec["count"])):
        bucket = rsp.desired.resources[f"bucket-{number}"]
        resource.update(bucket, {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "metadata": {"labels": {"team": spec["team"]}},
            "spec": {"forProvider": {"region": spec["region"], "tags": {"a": "b", "c": "d"}}},
        })
        bucket.ready = 1
"""
PYTHONIC = """
class Store(BaseComposite):
    def compose(self):
        for number in range(int(self.spec.count)):
            bucket = self.resources[f"bucket-{number}"]('Bucket', 's3.example.org/v1')
            bucket.metadata.labels.team = self.spec.team
            bucket.spec.forProvider.region = self.spec.region
            bucket.spec.forProvider.tags(a='b', c='d')
            bucket.ready = True
"""
_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_PROVIDER = {"type": "object", "properties": {"region": _TEXT, "tags": _TEXTS}}
_OBJECT = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": {"type": "object", "properties": {"name": _TEXT, "labels": _TEXTS}},
}
SCHEMAS = {
    "example.org/v1, Kind=XStore": {
        "type": "object",
        "properties": {
            **_OBJECT,
            "spec": {
                "type": "object",
                "properties": {"count": {"type": "integer"}, "region": _TEXT, "team": _TEXT},
            },
        },
    },
    "s3.example.org/v1, Kind=Bucket": {
        "type": "object",
        "properties": {**_OBJECT, "spec": {"type": "object", "properties": {"forProvider": _PROVIDER}}},
    },
}
KRO = {
    "resources": [
        {
            "id": "bucket",
            "forEach": [{"number": "${lists.range(schema.spec.count)}"}],
            "readyWhen": ["${true}"],
            "template": {
                "apiVersion": "s3.example.org/v1",
                "kind": "Bucket",
                "metadata": {"name": "store-${string(number)}", "labels": {"team": "${schema.spec.team}"}},
                "spec": {"forProvider": {"region": "${schema.spec.region}", "tags": {"a": "b", "c": "d"}}},
            },
        }
    ]
}
KCL = """
oxr = option("params").oxr
items = [{
    apiVersion = "s3.example.org/v1"
    kind = "Bucket"
    metadata = {
        name = "bucket-${number}"
        labels = {team = oxr.spec.team}
        annotations = {"krm.kcl.dev/ready" = "True"}
    }
    spec.forProvider = {region = oxr.spec.region, tags = {a = "b", c = "d"}}
} for number in range(oxr.spec.count)]
"""
CEL = {
    "filters": [
        {"name": "bucket-.*", "expression": "observed.composite.resource.spec.region == 'eu-west-1'"}
    ],
    "validations": [{"name": ".*", "expression": "resource.kind == 'Bucket'"}],
}


def request(function_input: Any, count: int, desired: int = 0) -> Request:
    """A request of an XR that wants so many resources, where so many are desired already."""
    xr = {
        "apiVersion": "example.org/v1",
        "kind": "XStore",
        "metadata": {"name": "store"},
        "spec": {"count": count, "region": "eu-west-1", "team": "blue"},
    }
    bucket = {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "spec": {"forProvider": {"region": "eu"}}}
    resources = {f"bucket-{index}": Resource(bucket) for index in range(desired)}
    return Request(
        State(Resource(to_wire(xr))),
        State(None, resources),
        input=function_input,
        required_schemas=SCHEMAS,
        tag="t",
    )


def measure(title: str, name: str, function_input: Any, count: int, loop: float, desired: int = 0) -> None:
    """Print how often a function answers."""
    function, prepared = load(name), request(function_input, count, desired)
    answer: Response = function(prepared)
    assert all(result.severity == SEVERITY_NORMAL for result in answer.results), answer.results
    assert answer.desired is not None
    assert len(answer.desired.resources) == count
    rate = per_second(lambda: function(prepared))
    print(f"{title}, {count} resources: {rate:,.0f} a second ({rate / loop:.3f} loops)")


def main() -> None:
    """Print the figures."""
    loop = loop_per_second()
    print(f"yardstick: a loop of plain Python, {loop:,.0f} a second")
    empty = per_second(lambda: ask("crossply.functions.builtin.cel_filter.worker", b"[]", b"[]\n"))
    print(
        f"yardstick: an empty program in a confined process, {empty:,.0f} a second ({empty / loop:.3f} loops)"
    )
    for count in (1, 3, RESOURCES):
        measure("kcl", "kcl", {"spec": {"source": KCL}}, count, loop)
    for count in (1, RESOURCES):
        measure("starlark, calls", "starlark", {"spec": {"source": STARLARK_CALLS}}, count, loop)
        measure("starlark, main", "starlark", {"script": STARLARK_MAIN}, count, loop)
        measure("python", "python", {"script": PYTHON}, count, loop)
        measure("pythonic", "pythonic", {"step": "s", "composite": PYTHONIC}, count, loop)
        measure("kro", "kro", KRO, count, loop)
        measure("cel-filter", "cel-filter", CEL, count, loop, desired=count)


if __name__ == "__main__":
    main()
