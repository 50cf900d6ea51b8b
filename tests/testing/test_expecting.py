"""The expectations of a case, and the messages when they are not met."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.suite_folder import XR, Folder

BUCKET = {"region": "eu", "size": 3, "zones": ["a", "b"]}
WHOLE_BUCKET = {
    "apiVersion": "example.org/v1",
    "kind": "Bucket",
    "spec": {**BUCKET, "ports": [{"name": "http", "port": 80}, {"name": "tls", "port": 443}]},
}


@pytest.mark.parametrize(
    "expect",
    [
        pytest.param({"resources": [{"name": "bucket", "object": {"spec": BUCKET}}]}, id="a part"),
        pytest.param(
            {"resources": [{"name": "bucket", "match": "Exact", "object": WHOLE_BUCKET}]}, id="the whole"
        ),
        pytest.param({"match": "Exact", "resources": [{"name": "bucket", "object": WHOLE_BUCKET}]}, id="all"),
        pytest.param({"resources": [{"name": "bucket", "ready": False}]}, id="readiness"),
        pytest.param(
            {"otherResources": "Forbid", "resources": [{"name": "bucket"}, {"name": "cdn"}]}, id="no others"
        ),
        pytest.param({"absent": {"resources": ["queue"]}}, id="absent resources"),
        pytest.param(
            {"composite": {"metadata": {"name": "shop"}, "status": {"url": None}}}, id="the composite"
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "False", "contains": "bucket"}]}, id="a condition"
        ),
        pytest.param({"absent": {"conditions": [{"type": "Ready", "status": "True"}]}}, id="no condition"),
        pytest.param({"results": [{"reason": "SelectComposition", "severity": "Normal"}]}, id="a result"),
        pytest.param({"absent": {"results": [{"severity": "Warning"}]}}, id="no result"),
    ],
)
def test_expected_output_passes(folder: Folder, expect: dict[str, Any]) -> None:
    result = folder.check(**expect)
    assert (result.code, result.err) == (0, ""), result.out
    assert "1 passed in" in result.out


@pytest.mark.parametrize(
    ("expect", "messages"),
    [
        pytest.param(
            {"resources": [{"name": "bucket", "object": {"spec": {"region": "us"}}}]},
            ["resource bucket: spec.region", "- expected: us", "+ actual:   eu"],
            id="a field",
        ),
        pytest.param(
            {"resources": [{"name": "bucket", "object": {"spec": {"ports": [{"name": "tls", "port": 1}]}}}]},
            ["resource bucket: spec.ports[tls].port", "- expected: 1", "+ actual:   443"],
            id="an item of a list",
        ),
        pytest.param(
            {"match": "Exact", "resources": [{"name": "bucket", "object": {**WHOLE_BUCKET, "spec": BUCKET}}]},
            ["resource bucket: spec.ports[http].name", "- expected: (nothing)", "+ actual:   http"],
            id="more than the whole",
        ),
        pytest.param({"resources": [{"name": "queue"}]}, ["resource queue", "(nothing)"], id="no resource"),
        pytest.param(
            {"resources": [{"name": "bucket", "ready": True}]}, ["resource bucket: ready"], id="not ready"
        ),
        pytest.param(
            {"otherResources": "Forbid", "resources": [{"name": "bucket"}]}, ["resource cdn"], id="others"
        ),
        pytest.param({"absent": {"resources": ["cdn"]}}, ["resource cdn", "plan: small"], id="unwanted"),
        pytest.param({"deleted": ["cdn"]}, ["resource cdn", "- expected: deleted"], id="not deleted"),
        pytest.param(
            {"composite": {"status": {"url": "x"}}}, ["composite resource: status.url"], id="status"
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "True"}]},
            ["condition Ready: status", "- expected: True", "+ actual:   False"],
            id="a condition of another status",
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "contains": "queue"}]},
            ["condition Ready: message contains", "Unready resources: bucket, cdn"],
            id="a condition of another message",
        ),
        pytest.param(
            {"conditions": [{"type": "Nice", "status": "True"}]},
            ["condition Nice", "+   - lastTransitionTime"],
            id="no such condition",
        ),
        pytest.param(
            {"absent": {"conditions": [{"type": "Synced"}]}}, ["condition", "ReconcileSuccess"], id="unwanted"
        ),
        pytest.param({"results": [{"severity": "Warning"}]}, ["result", "Normal"], id="no such result"),
        pytest.param(
            {"absent": {"results": [{"contains": "selected"}]}}, ["result", "apps"], id="unwanted result"
        ),
        pytest.param({"context": {"a": 1}}, ["context: a", "- expected: 1"], id="context"),
        pytest.param({"failure": "no size"}, ["pipeline: failure", "- expected: no size"], id="no failure"),
    ],
)
def test_unexpected_output_is_reported_with_its_line(
    folder: Folder, expect: dict[str, Any], messages: list[str]
) -> None:
    result = folder.check(**expect)
    assert result.code == 1
    assert "1 failed" in result.out
    for message in messages:
        assert message in result.out
    assert "        at app_test.yaml:" in result.out


def test_the_line_is_that_of_the_field(folder: Folder) -> None:
    folder.write(
        "app_test.yaml",
        """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
spec:
  xr: xr.yaml
  cases:
  - name: it
    expect:
      resources:
      - name: bucket
        object:
          spec:
            region: us
            ports:
            - name: http
            - name: tls
              port: 1
""",
    )
    folder.write("xr.yaml", XR)
    out = folder.run().out
    assert (
        "spec.ports[tls].port\n        - expected: 1\n        + actual:   443\n        at app_test.yaml:16\n"
        in out
    )
    assert "spec.region\n        - expected: us\n        + actual:   eu\n        at app_test.yaml:12\n" in out


def test_a_failure_may_be_expected_with_earlier_results(folder: Folder) -> None:
    expect = {
        "failure": "spec.cdn is missing",
        "conditions": [{"type": "Synced", "status": "False", "reason": "ReconcileError"}],
    }
    folder.suite({"name": "needs a plan", "xrPatch": {"spec": {"cdn": None}}, "expect": expect})
    result = folder.run()
    assert result.code == 0, result.out


def test_a_failure_that_was_not_expected_fails_the_case(folder: Folder) -> None:
    folder.suite(
        {"name": "it", "xrPatch": {"spec": {"cdn": None}}, "expect": {"absent": {"resources": ["x"]}}}
    )
    result = folder.run()
    assert result.code == 1
    assert (
        "pipeline: failure\n        - expected: (nothing)\n        + actual:   cannot compose" in result.out
    )


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "buckets.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Bucket", "plural": "buckets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "region": {"type": "string", "enum": ["us", "ap"]},
                                    "size": {"type": "integer"},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def test_an_object_that_an_api_server_would_refuse_fails_where_its_schema_is_known(folder: Folder) -> None:
    folder.write("crds/bucket.yaml", CRD)
    case = {"name": "it", "expect": {"resources": [{"name": "bucket"}]}}
    folder.suite(case)
    assert folder.run().code == 0, "nothing is validated unless asked for"
    folder.suite(case, crds="crds")
    result = folder.run()
    assert result.code == 1
    assert 'resource bucket is not valid: spec.region: Unsupported value: "eu"' in result.out
    assert 'resource bucket is not valid: spec.zones: Invalid value: "zones": unknown field' in result.out
    assert "resource cdn" not in result.out, "of an unknown kind nothing can be said"


def test_a_composite_resource_that_would_be_refused_cannot_be_tested(folder: Folder) -> None:
    definition = {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "apps.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "App", "plural": "apps"},
            "scope": "Namespaced",
            "versions": [{**CRD["spec"]["versions"][0], "referenceable": True}],  # type: ignore[index]
        },
    }
    folder.suite({"name": "it", "expect": {"resources": [{"name": "bucket"}]}}, xrd=definition, validate=True)
    result = folder.run()
    assert result.code == 2
    assert 'an API server would refuse the composite resource: spec.cdn: Invalid value: "cdn"' in result.out
