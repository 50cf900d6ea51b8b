"""function-kcl: what programs read, and what becomes of the objects that they give."""

from __future__ import annotations

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, Resource
from tests.support.functions.kcl import answered, composed, desired_by, fatal_of, value_of

BUCKETS = """
oxr = option("params").oxr
items = [{
    apiVersion = "v1"
    kind = "Bucket"
    metadata.name = "bucket-${number}"
    metadata.annotations = {
        "krm.kcl.dev/composition-resource-name" = "b${number}"
        "krm.kcl.dev/ready" = "True" if number == 0 else "False"
    }
    spec.region = oxr.spec.region
} for number in range(oxr.spec.count)]
"""


def test_items_become_composed_resources_beside_those_of_earlier_steps() -> None:
    desired = desired_by(BUCKETS)
    bucket = {"apiVersion": "v1", "kind": "Bucket", "spec": {"region": "eu"}}
    assert desired.resources["b0"] == Resource(
        {**bucket, "metadata": {"name": "bucket-0", "annotations": {}}}, {}, READY_TRUE
    )
    assert desired.resources["b2"].ready == READY_FALSE
    assert sorted(desired.resources) == ["b0", "b1", "b2", "earlier"]


def test_an_object_of_the_kind_of_the_xr_is_merged_into_its_status() -> None:
    desired = desired_by('items = [{**option("params").dxr, status.url = "u", spec.region = "us"}]')
    assert desired.composite is not None
    assert desired.composite.object == {
        "apiVersion": "example.org/v1",
        "kind": "Store",
        "status": {"old": 1, "url": "u"},
    }


def test_numbers_of_the_request_are_whole_where_they_are_whole() -> None:
    assert value_of('[option("params").oxr.spec[key] for key in ["count", "ratio"]]') == [3, 0.5]


def test_observed_and_desired_resources_have_the_fields_of_the_published_function() -> None:
    assert value_of('option("params").ocds') == {
        "db": {
            "Resource": {
                "apiVersion": "v1",
                "kind": "DB",
                "metadata": {"name": "db-1"},
                "status": {"host": "h"},
            },
            "ConnectionDetails": {"user": "dQ=="},
        }
    }
    assert value_of('option("params").dcds.earlier.Ready') == "True"


def test_parameters_of_the_input_are_beside_the_request() -> None:
    params = {"size": "xl", "list": [1, {"a": None}], "oxr": "hidden"}
    assert value_of('[option("params")[key] for key in ["size", "list"]]', spec={"params": params}) == [
        "xl",
        [1, {"a": None}],
    ]
    assert value_of('option("params").oxr.kind', spec={"params": params}) == "Store"


def test_a_program_may_give_one_object_several_or_none() -> None:
    assert list(composed('{metadata.name = "one"}')) == ["one"]
    assert sorted(composed('[{metadata.name = "a"}, {metadata.name = "b"}]')) == ["a", "b"]
    assert composed("items = []") == {}


def test_a_failed_assertion_is_the_message_of_a_fatal_result() -> None:
    message = fatal_of(answered('assert 1 == 2, "no luck"\nitems = []'))
    assert message.startswith("failed to run kcl function pipelines: EvaluationError")
    assert "prog.k:1: no luck" in message


def test_a_program_without_source_is_refused() -> None:
    message = "invalid function input: spec.source: Required value: kcl source cannot be empty"
    assert fatal_of(answered("")) == message
