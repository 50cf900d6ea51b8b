"""Between the JSON of a managed resource and the dataclasses of its provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest

from crossply.errors import CrossplyError
from crossply.provider import Ref, SecretData, SecretValue
from crossply.provider.dataclass_fields import read_struct
from crossply.provider.decode import Lookups, decode, encode, find_fields
from crossply.provider.field_model import Reference, Secret, SecretDataField


class Colour(Enum):
    RED = "Red"
    BLUE = "Blue"


@dataclass
class Rule:
    from_port: int
    token: SecretValue | None = None
    group: Ref[Rule] | None = None


@dataclass
class Parameters:
    name: str
    weight: float = 1.0
    colour: Colour = Colour.RED
    mode: Literal[1, 2] = 1
    tags: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    by_name: dict[str, Rule] = field(default_factory=dict)
    manifest: dict[str, Any] | None = None
    password: SecretValue | None = None
    readers: list[Ref[Rule]] = field(default_factory=list)
    note: str | None = None


STRUCT = read_struct(Parameters, {})

JSON = {
    "name": "a",
    "weight": 2,
    "colour": "Blue",
    "tags": {"some_key": "x"},
    "rules": [{"fromPort": 80.0, "tokenSecretRef": {"name": "s", "key": "k"}}],
    "byName": {"web": {"fromPort": 1, "group": "g"}},
    "manifest": {"any": [1, {"thing": None}]},
    "passwordSecretRef": {"name": "s", "key": "password"},
    "readers": ["r"],
    "note": None,
    "unknown": 1,
}
SECRETS = {("password",): "geheim", ("rules", 0, "token"): "t"}


def test_json_becomes_dataclasses_and_back():
    parameters = decode(STRUCT, JSON, Lookups(secrets=SECRETS))
    assert parameters == Parameters(
        name="a",
        weight=2.0,
        colour=Colour.BLUE,
        tags={"some_key": "x"},
        rules=[Rule(80, SecretValue("t"))],
        by_name={"web": Rule(1, group=Ref("g"))},
        manifest={"any": [1, {"thing": None}]},
        password=SecretValue("geheim"),
        readers=[Ref("r")],
    )
    assert encode(STRUCT, parameters) == {
        "name": "a",
        "weight": 2.0,
        "colour": "Blue",
        "mode": 1,
        "tags": {"some_key": "x"},
        "rules": [{"fromPort": 80}],
        "byName": {"web": {"fromPort": 1, "group": "g"}},
        "manifest": {"any": [1, {"thing": None}]},
        "readers": ["r"],
    }


def test_secrets_are_hidden_in_reprs_and_left_out_of_json():
    parameters = decode(STRUCT, JSON, Lookups(secrets=SECRETS))
    assert parameters.password == "geheim"
    assert "geheim" not in repr(parameters)
    assert "geheim" not in str(encode(STRUCT, parameters))


def test_references_and_secrets_are_collected_at_any_depth():
    secrets = [match.value_path for match in find_fields(STRUCT, JSON, Secret)]
    references = [match.value_path for match in find_fields(STRUCT, JSON, Reference)]
    assert secrets == [("rules", 0, "token"), ("byName", "web", "token"), ("password",)]
    assert references == [("rules", 0, "group"), ("byName", "web", "group"), ("readers",)]


def test_defaults_are_not_shared():
    first, second = decode(STRUCT, {"name": "a"}), decode(STRUCT, {"name": "a"})
    first.tags["x"] = "y"
    assert second.tags == {}


def test_a_required_field_may_be_missing_where_a_resource_is_only_observed():
    assert decode(STRUCT, {}, Lookups(allow_missing=True)).name is None
    with pytest.raises(CrossplyError, match="name is required"):
        decode(STRUCT, {})


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ({"name": 1}, "name is not of type string"),
        ({"weight": True}, "weight is not of type number"),
        ({"colour": "Green"}, "colour is not one of Red, Blue"),
        ({"tags": []}, "tags is not a map"),
        ({"rules": {}}, "rules is not a list"),
        ({"rules": [{"fromPort": 1.5}]}, "rules[0].fromPort is not of type integer"),
        ({"byName": {"web": "x"}}, "byName.web is not an object"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_path(json: dict[str, Any], message: str):
    with pytest.raises(CrossplyError) as refused:
        decode(STRUCT, {"name": "a", **json})
    assert str(refused.value) == message


def test_a_mapping_by_python_names_is_encoded_as_its_dataclass_would_be():
    actual = {"colour": Colour.RED, "by_name": {"web": {"from_port": 1}}, "note": None}
    assert encode(STRUCT, actual) == {"colour": "Red", "byName": {"web": {"fromPort": 1}}}


@dataclass
class Configuration:
    connection: SecretData


def test_all_keys_of_a_secret_are_one_value_whose_repr_hides_them():
    struct = read_struct(Configuration, {})
    json = {"connectionSecretRef": {"namespace": "default", "name": "server"}}
    [place] = find_fields(struct, json, SecretDataField)
    data = SecretData("default/server", {"password": b"geheim"})
    configuration = decode(struct, json, Lookups(secret_data={place.value_path: data}))
    assert (place.field.secret_ref_name, configuration.connection["password"]) == (
        "connectionSecretRef",
        b"geheim",
    )
    assert "geheim" not in repr(configuration)
    assert encode(struct, configuration) == {}
