from crossply.kinds.definition import parse_definition
from crossply.ui.pages.playground import MAX_PACKED, pack_text, unpack_text
from crossply.ui.playground.platform import schema_at
from crossply.ui.playground.sample_resource import as_written, sample_resource, without_engine_schema
from crossply.ui.playground.typed_resource import MAX_TEXT, read_resource
from crossply.values.yaml import dump
from tests.support.ui.shop_platform import DATABASES, SHOPS, VERSION, shop


def test_a_sample_is_a_valid_resource():
    for definition in (SHOPS, DATABASES):
        sample = sample_resource(parse_definition(definition), schema_at(definition, VERSION))
        assert read_resource(dump(sample), definition).problems == ()


def test_an_object_of_the_cluster_loses_the_fields_of_the_control_plane():
    live = shop("mine", crossplane={"compositionRef": {"name": "shop"}})
    live["metadata"] |= {
        "uid": "1",
        "labels": {"team": "a", "crossplane.io/composite": "mine"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "mine"},
    }
    live["status"] = {"conditions": []}
    assert as_written(live) == {
        "apiVersion": VERSION,
        "kind": "Shop",
        "metadata": {
            "name": "mine",
            "namespace": "default",
            "labels": {"team": "a"},
            "annotations": {"note": "mine"},
        },
        "spec": {"region": "eu-west"},
    }


def test_the_form_has_the_fields_that_authors_write():
    spec = without_engine_schema(schema_at(SHOPS, VERSION))["properties"]["spec"]["properties"]
    assert set(spec) == {"region", "replicas", "public", "domains", "database"}


def test_a_text_comes_back_from_an_address():
    text = "apiVersion: v1\n# ümläut\n" * 20
    packed = pack_text(text)
    assert packed is not None
    assert unpack_text(packed) == text


def test_an_address_that_holds_no_text_is_refused():
    assert [unpack_text(packed) for packed in ("", "%%%", "AAAA", "a" * (MAX_PACKED + 1))] == [None] * 4


def test_a_text_that_unpacks_to_very_much_is_cut_at_the_limit():
    packed = pack_text("a" * 3_000_000)
    assert packed is not None
    assert len(unpack_text(packed) or "") == MAX_TEXT
