"""How many templates of 50 resources the built-in go-templating function renders a second, warm, in-process.

The yardstick is plain Python on the same machine in the same run. Prints figures only.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.go_templating.function import run
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.go_templating.template_data import data_of
from crossply.values.protobuf_struct import to_wire
from machine import loop_per_second, per_second

RESOURCES = 50
GOAL = 300

TEMPLATE = """{{ $xr := .observed.composite.resource }}
{{- range $i := until (int $xr.spec.count) }}
{{- $name := printf "bucket-%d" $i }}
---
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  name: {{ $xr.metadata.name }}-{{ $name }}
  annotations:
    {{ setResourceNameAnnotation $name }}
    {{- with index $.observed.resources $name }}
    {{- if eq (getResourceCondition "Ready" .).Status "True" }}
    gotemplating.fn.crossplane.io/ready: "True"
    {{- end }}
    {{- end }}
  labels:
    team: {{ $xr.spec.team | default "platform" | quote }}
spec:
  forProvider:
    region: {{ $xr.spec.region }}
    tags:
      {{- range $key, $value := $xr.spec.tags }}
      {{ $key }}: {{ $value | lower | quote }}
      {{- end }}
{{- end }}
"""


def request() -> Request:
    """A request of an XR whose resources exist."""
    xr: dict[str, Any] = {
        "apiVersion": "example.org/v1",
        "kind": "XStore",
        "metadata": {"name": "store"},
        "spec": {"count": RESOURCES, "region": "eu-west-1", "team": "blue", "tags": {"a": "B", "c": "D"}},
    }
    bucket = {
        "apiVersion": "s3.example.org/v1",
        "kind": "Bucket",
        "metadata": {"name": "x", "uid": "9a1c", "labels": {"team": "blue"}},
        "spec": {"forProvider": {"region": "eu-west-1", "tags": {"a": "b", "c": "d"}}},
        "status": {
            "atProvider": {"arn": "arn:aws:s3:::x", "id": "x"},
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "reason": "Fine",
                    "lastTransitionTime": "2024-01-01T00:00:00Z",
                }
                for kind in ("Ready", "Synced")
            ],
        },
    }
    observed = {f"bucket-{index}": Resource(to_wire(bucket)) for index in range(RESOURCES)}
    function_input = {"source": "Inline", "inline": {"template": TEMPLATE}}
    return Request(State(Resource(to_wire(xr)), observed), input=function_input, tag="t")


def main() -> None:
    """Print the figures."""
    prepared = request()
    answer = run(prepared)
    assert not answer.results
    assert answer.desired is not None
    assert len(answer.desired.resources) == RESOURCES
    program = compile_text(TEMPLATE)
    loop = loop_per_second()
    print(f"yardstick: a loop of plain Python, {loop:,.0f} a second")
    full_rate = per_second(lambda: run(prepared))
    print(
        f"the whole function, {RESOURCES} resources: {full_rate:,.0f} a second ({full_rate / loop:.3f} loops)"
    )
    print(f"the goal: {GOAL} a second")
    text = per_second(lambda: program.render(data_of(prepared)))
    print(f"the text alone: {text:,.0f} a second ({text / loop:.3f} loops)")
    cold = per_second(lambda: compile_text.__wrapped__(TEMPLATE))
    print(f"reading and compiling the template: {cold:,.0f} a second ({cold / loop:.3f} loops)")


if __name__ == "__main__":
    main()
