"""In this process or over gRPC, a built-in function gives the same bytes for the same request."""

from __future__ import annotations

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import Request
from crossply.compose.wire_codec import encode_request, encode_response
from crossply.functions import builtin
from crossply.functions.server import FunctionServer, ServerSettings
from tests.support.function_servers import V1
from tests.support.functions.messages import objects, requests, values

MAX_EXAMPLES = 25


def resources(base):
    patch = st.fixed_dictionaries(
        {"type": st.sampled_from(["FromCompositeFieldPath", "ToCompositeFieldPath", "PatchSet"])},
        optional={
            "fromFieldPath": st.sampled_from(["spec.a", "spec.list[0]", "metadata.name", "bad["]),
            "toFieldPath": st.sampled_from(["spec.b", "status.c", "spec.l[1]"]),
        },
    )
    return st.fixed_dictionaries(
        {"name": st.sampled_from(["r", "s"]), "base": base}, optional={"patches": st.lists(patch, max_size=2)}
    )


bases = st.builds(lambda spec: {"apiVersion": "example.org/v1", "kind": "Thing", "spec": spec}, objects)
selector = st.fixed_dictionaries(
    {"into": st.sampled_from(["a", "b"]), "apiVersion": st.just("v1"), "kind": st.just("ConfigMap")},
    optional={"ref": st.just({"name": "n"}), "type": st.sampled_from(["Reference", "Selector"])},
)
MANIFEST = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations: {{{{ {} }}}}\ndata: {{{{ toJson {} }}}}\n"
)
NAMED = """`{"gotemplating.fn.crossplane.io/composition-resource-name": "a"}`"""
templates = st.sampled_from(
    [
        MANIFEST.format(NAMED, ".observed"),
        MANIFEST.format(NAMED, ".desired"),
        MANIFEST.format("`{}`", "."),
        "{{ toYaml .context }}",
        "{{ range $n, $_ := .observed.resources }}\n---\nkind: X\nmetadata: {name: {{ $n }}}\n{{ end }}",
        "{{ .observed.composite.resource.spec.a.b",
        "{{ fail .observed }}",
    ]
)
patterns = st.sampled_from(["a", ".*", "[a-z]", "("])
conditions = st.sampled_from(["true", "'a' in desired.resources", "observed.composite.resource.a == 1", "a("])


def hook(pattern, include_composite):
    """A hook that matches resources with any Ready condition, or the XR."""
    matcher = {"resources": [{"name": pattern}], "conditions": [{"type": "Ready", "message": "(?P<Said>.*)"}]}
    condition = {"type": "Told", "status": "False", "reason": "Because", "message": "said: {{ .Said }}"}
    return {
        "matchers": [{**matcher, "includeCompositeAsResource": include_composite}],
        "setConditions": [{"condition": condition}],
    }


INPUTS = {
    "patch-and-transform": st.fixed_dictionaries(
        {"resources": st.lists(resources(bases), max_size=2, unique_by=lambda r: r["name"])}
    ),
    "auto-ready": st.fixed_dictionaries({}, optional={"ttl": st.sampled_from(["1m", "5s", "soon"])}),
    "environment-configs": st.fixed_dictionaries(
        {"spec": st.fixed_dictionaries({}, optional={"defaultData": objects, "environmentConfigs": values})}
    ),
    "go-templating": st.fixed_dictionaries(
        {
            "source": st.sampled_from(["Inline", "Elsewhere"]),
            "inline": st.fixed_dictionaries({"template": templates}),
        },
        optional={"options": st.just(["missingkey=error"]), "ttl": st.sampled_from(["1m", "soon"])},
    ),
    "cel-filter": st.fixed_dictionaries(
        {
            "filters": st.lists(
                st.fixed_dictionaries({"name": patterns, "expression": conditions}), max_size=2
            )
        },
        optional={"validations": st.just([{"expression": "desired.resources.size() < 2"}])},
    ),
    "cidr": st.fixed_dictionaries(
        {
            "cidrFunc": st.sampled_from(["cidrhost", "cidrsubnets", "cidrsubnetloop"]),
            "prefix": st.sampled_from(["10.0.0.0/8", "2001:db8::/32", "10.0.0.0"]),
            "newBits": st.lists(st.sampled_from([1.0, 8.0, 33.0]), max_size=3),
        },
        optional={"hostNum": st.just(5.0), "netNumCount": st.just(2.0), "outputField": st.just("a.b[0]")},
    ),
    "conditional-patch-and-transform": st.fixed_dictionaries(
        {"resources": st.lists(resources(bases | objects), max_size=2)}, optional={"condition": conditions}
    ),
    "deletion-protection": st.fixed_dictionaries(
        {}, optional={"cacheTTL": st.sampled_from(["5m", "x"]), "enableV1Mode": st.booleans()}
    ),
    "dummy": st.fixed_dictionaries(
        {
            "response": st.fixed_dictionaries(
                {"desired": st.fixed_dictionaries({"composite": st.builds(dict, resource=objects)})},
                optional={"context": objects, "results": st.just([{"message": "m"}]), "odd": st.just(1)},
            )
        }
    ),
    "kcl": st.sampled_from(
        [
            {
                "spec": {
                    "source": 'p = option("params")\nitems = [{metadata.name = "r", a = p.oxr, b = p.ctx}]'
                }
            },
            {"spec": {"source": '{**option("params").oxr, status.a = 1}', "target": "XR"}},
            {"spec": {"source": 'items = [option("params").oxr.a.b]'}},
        ]
    ),
    "kro": st.builds(
        lambda text: {
            "resources": [
                {"id": "one", "template": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": text}}}
            ],
            "status": {"a": "${one.metadata.name}"},
        },
        st.sampled_from(["b", "${schema.metadata.name}", "${schema.spec", "${1 + 'a'}"]),
    ),
    "python": st.builds(
        dict,
        script=st.sampled_from(
            [
                "def compose(req, rsp):\n    rsp.context['n'] = len(req.observed.resources)\n",
                "def compose(req, rsp):\n    rsp.desired.resources['x'].resource['a'] = 1\n",
                "def compose(req, rsp):\n    req.nothing\n",
            ]
        ),
    ),
    "pythonic": st.builds(
        lambda line: {
            "step": "s",
            "composite": f"class C(BaseComposite):\n  def compose(self):\n    {line}\n",
        },
        st.sampled_from(
            [
                "self.resources.x('K', 'v1').spec.a = self.spec",
                "self.status.n = len(self.request.observed.resources)",
                "self.resources.y('K', 'v1').spec.b = self.spec.no.such.field",
                "self.status.keys = ' '.join(key for key in self.spec)",
                "self.nothing",
            ]
        ),
    ),
    "sequencer": st.fixed_dictionaries(
        {"rules": st.lists(st.builds(dict, sequence=st.lists(patterns, max_size=3)), max_size=2)},
        optional={"resetCompositeReadiness": st.just(True), "enableDeletionSequencing": st.just(True)},
    ),
    "shell": st.fixed_dictionaries(
        {"shellCommand": st.sampled_from(["echo hello", ""])},
        optional={
            "cacheTTL": st.sampled_from(["5m", "x"]),
            "shellEnvVars": st.just([{"key": "A", "valueRef": "spec.a"}]),
        },
    ),
    "starlark": st.sampled_from(
        [
            {"spec": {"source": "Resource('r', {'a': oxr})\nset_xr_status('b', 1)\ncontext['c'] = 2\n"}},
            {"spec": {"source": "x = oxr['a']['b']"}},
            {"spec": {"source": "set_xr_status('keys', [list(oxr), list(context), list(environment)])"}},
            {"script": "def main(req):\n    return {'desired': req['desired'], 'context': req['context']}\n"},
        ]
    ),
    "status-transformer": st.fixed_dictionaries(
        {"statusConditionHooks": st.lists(st.builds(hook, patterns, st.booleans()), max_size=2)}
    ),
    "tag-manager": st.fixed_dictionaries(
        {"addLabels": st.just([{"type": "FromValue", "labels": {"a": "b"}}])},
        optional={"removeLabels": st.just([{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.a"}])},
    ),
    "extra-resources": st.fixed_dictionaries(
        {"spec": st.fixed_dictionaries({}, optional={"extraResources": st.lists(selector, max_size=2)})}
    ),
}


def with_input(request, function_input):
    """The made request with an input that the function understands, mostly."""
    return Request(
        request.observed,
        request.desired,
        input=function_input,
        context=request.context,
        extra_resources=request.extra_resources,
        credentials=request.credentials,
        required_resources=request.required_resources,
        required_schemas=request.required_schemas,
        capabilities=request.capabilities,
    )


def test_every_built_in_function_is_compared():
    assert sorted(INPUTS) == sorted(builtin.PUBLISHED)


@pytest.mark.parametrize("name", builtin.PUBLISHED)
def test_in_process_and_over_grpc_give_the_same_bytes(name):
    function = builtin.load(name)
    server = FunctionServer(name, function, ServerSettings("127.0.0.1:0"))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        run = channel.unary_unary(V1)

        @settings(max_examples=MAX_EXAMPLES, deadline=None)
        @given(requests, INPUTS[name] | objects)
        def check(request, function_input):
            request_with_input = with_input(request, function_input)
            here = encode_response(function(request_with_input))
            assert run(encode_request(request_with_input), timeout=10) == here

        check()
    server.stop()
