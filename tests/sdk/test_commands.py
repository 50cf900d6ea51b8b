"""`crossply function call`, `test`, `build` and `push`, as people type them."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml

from tests.support.function_servers import CROSSPLY, started
from tests.support.ports import free_port

XR = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}, "spec": {"count": 3}}
FILE = """
from crossply.sdk import function

@function
def compose(req, rsp):
    rsp.desired["made"] = {"kind": "Made", "spec": {"count": req.xr["spec"]["count"], "half": 0.5}}
    rsp.desired["made"].ready = True
    rsp.xr.connection["password"] = "secret"
    rsp.condition("Fine", True, "Fine", claim=True)
    rsp.warning("careful", reason="Care")
    rsp.require("maps", "v1", "ConfigMap", labels={"a": "b"}, namespace="n")
    rsp.require_schema("xr", "example.org/v1", "XR")
    rsp.context["seen"] = [key for key in sorted(req.required)]
    if req.input.get("fatal"):
        rsp.fatal("as asked")
"""
REQUEST = {
    "meta": {"tag": "t", "capabilities": ["CAPABILITY_CAPABILITIES"]},
    "observed": {
        "composite": {"resource": XR},
        "resources": {"r": {"resource": {"kind": "R"}, "connectionDetails": {"k": "c2VjcmV0"}}},
    },
    "desired": {"resources": {"kept": {"resource": {"kind": "Kept"}, "ready": "READY_TRUE"}}},
    "required_resources": {"maps": {"items": [{"resource": {"kind": "ConfigMap"}}]}},
    "credentials": {"c": {"credentialData": {"data": {"k": "c2VjcmV0"}}}},
    "requiredSchemas": {"xr": {"openapiV3": {"type": "object"}}},
}


def call(directory, *words, stdin=None):
    return subprocess.run(
        [CROSSPLY, "function", *words], cwd=directory, capture_output=True, text=True, timeout=60, input=stdin
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "main.py").write_text(FILE)
    (tmp_path / "xr.yaml").write_text(yaml.safe_dump(XR))
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    return tmp_path


def test_a_file_is_called_with_an_xr(place):
    done = call(place, "call", "xr.yaml", "--file", "main.py")
    assert done.returncode == 0, done.stderr
    answer = yaml.safe_load(done.stdout)
    tag = answer["meta"].pop("tag")
    assert len(tag) == 64
    assert answer == {
        "meta": {"ttl": "60s"},
        "desired": {
            "composite": {"connectionDetails": {"password": "c2VjcmV0"}},
            "resources": {
                "made": {
                    "resource": {"kind": "Made", "spec": {"count": 3, "half": 0.5}},
                    "ready": "READY_TRUE",
                }
            },
        },
        "results": [{"severity": "SEVERITY_WARNING", "message": "careful", "reason": "Care"}],
        "conditions": [
            {
                "type": "Fine",
                "status": "STATUS_CONDITION_TRUE",
                "reason": "Fine",
                "target": "TARGET_COMPOSITE_AND_CLAIM",
            }
        ],
        "context": {"seen": []},
        "requirements": {
            "resources": {
                "maps": {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "matchLabels": {"labels": {"a": "b"}},
                    "namespace": "n",
                }
            },
            "schemas": {"xr": {"apiVersion": "example.org/v1", "kind": "XR"}},
        },
    }


def test_a_whole_request_is_sent_to_a_server_and_to_a_file_alike(place):
    address = f"127.0.0.1:{free_port()}"
    server = [CROSSPLY, "function", "run", str(place / "main.py"), "--insecure", "--address", address]
    with started(server, address):
        there = call(place, "call", "request.json", "--target", address)
    here = call(place, "call", "-", "-f", "main.py:compose", stdin=json.dumps(REQUEST))
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert here.stdout == there.stdout
    answer = yaml.safe_load(here.stdout)
    assert answer["meta"]["tag"] == "t"
    assert answer["context"] == {"seen": ["maps"]}
    assert answer["desired"]["resources"]["kept"] == {"resource": {"kind": "Kept"}, "ready": "READY_TRUE"}


def test_the_output_of_a_function_goes_to_stderr(place):
    (place / "main.py").write_text(f"print('while it is imported')\n{FILE}    print('hello')\n")
    done = call(place, "call", "xr.yaml", "--file", "main.py")
    assert yaml.safe_load(done.stdout)["results"][0]["message"] == "careful"
    assert done.stderr == "while it is imported\nhello\n"


def test_a_target_without_a_listener_is_unavailable(place):
    address = f"127.0.0.1:{free_port()}"
    done = call(place, "call", "xr.yaml", "--target", address, "--timeout", "30s")
    assert done.returncode == 1
    assert "code = Unavailable" in done.stderr.splitlines()[-1]
    assert f"does the function serve at {address} without TLS?" in done.stderr


def test_a_fatal_result_is_a_failure(place):
    (place / "fatal.yaml").write_text(yaml.safe_dump({**REQUEST, "input": {"fatal": True}}))
    done = call(place, "call", "fatal.yaml", "--file", "main.py")
    assert done.returncode == 1
    assert yaml.safe_load(done.stdout)["results"][-1]["message"] == "as asked"


def test_a_built_in_function_is_called_by_name_and_by_package(place):
    by_name = call(place, "call", "request.json", "--builtin", "auto-ready")
    package = "registry.example.org/crossplane-contrib/function-auto-ready:v1"
    by_package = call(place, "test", package, "request.json")
    assert by_name.returncode == by_package.returncode == 0, by_name.stderr + by_package.stderr
    assert by_name.stdout == by_package.stdout
    assert "kept" in yaml.safe_load(by_name.stdout)["desired"]["resources"]


@pytest.mark.parametrize(
    ("words", "content", "says"),
    [
        (("--file", "main.py"), "observd: {}", 'unknown field "observd"'),
        (("--file", "main.py"), "observed: 5", "observed"),
        (("--file", "main.py"), "- list", "is not a mapping"),
        (("--file", "main.py"), "a: [", "yaml"),
        (("--file", "main.py"), "observed: {composite: {connectionDetails: {a: '*'}}}", "bytes"),
        (("--file", "missing.py"), "{}", "there is no file"),
        (("--builtin", "nothing"), "{}", 'unknown function "nothing"'),
        (("--file", "a.py", "--target", "b"), "{}", "cannot be used together"),
        (("--target", "127.0.0.1:1", "--timeout", "300ms"), "{}", "Connection refused"),
    ],
)
def test_errors_of_call_are_reported(place, words, content, says):
    (place / "bad.yaml").write_text(content)
    done = call(place, "call", "bad.yaml", *words)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_function_is_built_as_packages_are(place):
    (place / "package").mkdir()
    (place / "package" / "crossplane.yaml").write_text(
        "apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-x}\nspec: {}\n"
    )
    done = call(place, "build", "-f", "package", "-o", "x.xpkg")
    assert done.returncode == 0, done.stderr
    assert (place / "x.xpkg").stat().st_size > 100
    assert "package" in call(place, "push", "--help").stdout
