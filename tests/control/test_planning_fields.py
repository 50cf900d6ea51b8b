"""The fields of an object that a plan shows, and those that it hides."""

from __future__ import annotations

from crossply.control.planning.field_changes import Unknown, fields_between


def paths(before, after):
    return [field.path for field in fields_between(before, after)]


def config_map(**fields):
    metadata = {"name": "it", "namespace": "here", "uid": "1", "resourceVersion": "5"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def test_server_owned_fields_are_not_shown():
    after = config_map(data={"a": "b"})
    after["metadata"] = {**after["metadata"], "resourceVersion": "6", "generation": 2, "managedFields": [{}]}
    assert paths(config_map(), after) == ["data.a"]


def test_the_identity_of_a_new_object_is_not_repeated():
    assert paths(None, config_map(data={"a": "b"})) == ["data.a"]


def test_a_condition_is_compared_by_its_content_and_not_by_its_time():
    def status(value, time):
        return {"status": {"conditions": [{"type": "Ready", "status": value, "lastTransitionTime": time}]}}

    assert paths(config_map(**status("True", "1")), config_map(**status("True", "2"))) == []
    changed = paths(config_map(**status("False", "1")), config_map(**status("True", "2")))
    assert changed == ["status.conditions[Ready].status"]


def test_the_data_of_a_secret_is_never_shown():
    def secret(**data):
        return {**config_map(), "kind": "Secret", "data": data}

    fields = fields_between(secret(word="b2xk", gone="eA=="), secret(word="bmV3", new="eQ=="))
    assert {field.path for field in fields} == {"data.word", "data.gone", "data.new"}
    assert all(field.secret for field in fields)
    assert not any(text in repr(fields) for text in ("b2xk", "bmV3", "eA==", "eQ=="))


def test_a_deleted_object_is_shown_as_a_whole():
    assert fields_between(config_map(data={"a": "b"}), None) == ()


def test_names_and_uids_that_are_not_known_yet_get_words():
    unknown = Unknown()
    xr = {"metadata": {"name": "mine-x7f2k", "uid": "0b5e"}}
    child = {"metadata": {"name": "mine-x7f2k-3fd1", "generateName": "mine-x7f2k-"}}
    unknown.note(xr)
    unknown.note_name(xr, "mine-")
    unknown.note_generated(child)
    assert unknown.text("mine-x7f2k-3fd1") == "mine-(generated)-(generated)"
    assert unknown.value({"a": ["0b5e", "mine-x7f2k"], "n": 1}) == {
        "a": ["(known after apply)", "mine-(generated)"],
        "n": 1,
    }


def test_the_values_of_a_secret_are_not_shown_in_other_objects_either():
    unknown = Unknown()
    data = {"password": "aHVudGVyLTQy", "flag": "bm8="}  # hunter-42, no
    unknown.note_secret({"apiVersion": "v1", "kind": "Secret", "data": data})
    live = {"data": {"url": "sql://app:old@db", "answer": "yes"}}
    (answer, url) = map(
        unknown.field, fields_between(live, {"data": {"url": "sql://app:hunter-42@db", "answer": "no"}})
    )
    assert url.after == "sql://app:(secret)@db"
    assert answer.after == "no"
