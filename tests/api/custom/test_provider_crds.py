"""The CRDs that the provider kit writes, on an API server: accepted, and enforcing what classes declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from crossply.provider import (
    Credentials,
    Immutable,
    Maximum,
    MaxItems,
    MaxLength,
    Minimum,
    Pattern,
    Ref,
    SecretValue,
    managed,
    provider_config,
)
from crossply.provider.crd import crds_of
from crossply.provider.managed_kind import managed_kind
from tests.support.api.client import TABLE
from tests.support.api.collection import Collection
from tests.support.api.definitions import DEFINITIONS, new_group, wait_until_served

GROUP = new_group()


class Methods:
    def observe(self, ctx: Any, params: Any) -> None: ...
    def create(self, ctx: Any, params: Any) -> None: ...
    def update(self, ctx: Any, params: Any) -> None: ...
    def delete(self, ctx: Any, params: Any) -> None: ...


@provider_config(group=GROUP)
@dataclass
class Config:
    """How the shop is reached."""

    url: str
    credentials: Credentials
    retries: int = 3


@managed(group=GROUP, config=Config, scope="Cluster")
class Room(Methods):
    @dataclass
    class Parameters:
        size: int = 1


@dataclass
class Weight:
    kilograms: float


@dataclass
class Board:
    thickness: Immutable[int]
    namespace: Ref[Room] | None = None
    colour: str = "white"


@dataclass
class Label:
    text: Annotated[str, MaxLength(10)]
    room: Ref[Room] | None = None


@managed(group=GROUP, config=Config, short_names=("shlf",))
class Cabinet(Methods):
    """A cabinet in a room."""

    @dataclass
    class Parameters:
        material: str
        room: Ref[Room]
        namespace: Immutable[str] | None = None
        height: Annotated[int, Minimum(1), Maximum(9)] = 3
        kind: Literal["open", "closed"] = "open"
        serial: Annotated[str, Pattern("^[0-9]+$")] | None = None
        tags: Immutable[dict[str, str]] = field(default_factory=dict)
        notes: Immutable[list[str]] = field(default_factory=list)
        board: Board = field(default_factory=lambda: Board(2))
        boards: dict[str, Board] = field(default_factory=dict)
        labels: Annotated[list[Label], MaxItems(5)] = field(default_factory=list)
        neighbours: list[Ref[Cabinet]] = field(default_factory=list)
        password: SecretValue | None = None
        anything: dict[str, Any] | None = None

    @dataclass
    class Observed:
        load: float
        weights: list[Weight] = field(default_factory=list)


@pytest.fixture(scope="module")
def installed_crds(admin):
    crds = crds_of([managed_kind(Cabinet), managed_kind(Room)])
    for crd in crds:
        admin.post(DEFINITIONS, crd, params={"fieldValidation": "Strict"}).ok(201)
    for crd in crds:
        wait_until_served(admin, crd)
    yield crds
    for crd in crds:
        admin.delete(f"{DEFINITIONS}/{crd['metadata']['name']}")


@pytest.fixture
def cabinets(admin, ns, installed_crds):
    return Collection(admin, f"{GROUP}/v1alpha1", "Cabinet", "cabinets", ns)


def spec(**parameters: Any) -> dict[str, Any]:
    return {"forProvider": {"material": "oak", "room": "hall", **parameters}}


def test_a_managed_resource_gets_the_defaults_of_its_class(cabinets):
    created = cabinets.create("mine", spec=spec())
    assert created["spec"] == {
        "forProvider": {
            "material": "oak",
            "room": "hall",
            "height": 3,
            "kind": "open",
            "board": {"thickness": 2, "colour": "white"},
        },
        "managementPolicies": ["*"],
        "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "default"},
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"material": None}, "spec.forProvider.material is a required parameter"),
        ({"room": None}, "spec.forProvider.room is a required parameter"),
        ({"height": 10}, "should be less than or equal to 9"),
        ({"kind": "round"}, "supported values"),
        ({"serial": "x"}, "should match"),
        ({"labels": [{"text": "x" * 11}]}, "Too long"),
        ({"labels": [{}]}, "spec.forProvider.labels[0].text: Required value"),
        ({"passwordSecretRef": {"name": "s"}}, "spec.forProvider.passwordSecretRef.key: Required value"),
        ({"roomRef": {}}, "spec.forProvider.roomRef.name: Required value"),
    ],
)
def test_parameters_that_the_schema_forbids_are_refused(cabinets, parameters, message):
    for_provider = {
        key: value for key, value in spec(**parameters)["forProvider"].items() if value is not None
    }
    refused = cabinets.post(cabinets.object("bad", spec={"forProvider": for_provider}))
    assert refused.status == 422
    assert message in refused.message


def test_required_parameters_may_be_missing_where_a_resource_is_only_observed(cabinets):
    cabinets.create("seen", spec={"forProvider": {}, "managementPolicies": ["Observe"]})


def test_a_reference_or_a_selector_stands_for_a_required_value(cabinets):
    cabinets.create("named", spec={"forProvider": {"material": "oak", "roomRef": {"name": "hall"}}})
    selector = {"matchControllerRef": True, "policy": {"resolve": "Always"}}
    cabinets.create("selected", spec={"forProvider": {"material": "oak", "roomSelector": selector}})


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("namespace", "a", "b"),
        ("namespace", "a", None),
        ("tags", {"a": "b"}, {"a": "c"}),
        ("notes", ["a"], ["a", "b"]),
        ("board", {"thickness": 2}, {"thickness": 3}),
        ("boards", {"low": {"thickness": 2}}, {"low": {"thickness": 3}}),
    ],
)
def test_an_immutable_value_can_be_set_later_but_not_changed(cabinets, name, before, after):
    cabinets.create("fixed", spec=spec())
    cabinets.merge("fixed", {"spec": {"forProvider": {name: before}}}).ok(200)
    refused = cabinets.merge("fixed", {"spec": {"forProvider": {name: after}}})
    assert refused.status == 422
    assert "is immutable" in refused.message


def test_the_table_shows_the_columns_of_managed_resources(cabinets):
    cabinets.create("mine", metadata={"annotations": {"crossplane.io/external-name": "s-1"}}, spec=spec())
    table = cabinets.list(accept=TABLE).ok(200)
    assert [column["name"] for column in table["columnDefinitions"]] == [
        *("Name", "READY", "SYNCED", "EXTERNAL-NAME", "AGE")
    ]
    assert table["rows"][0]["cells"][3] == "s-1"


def test_configurations_have_both_scopes(admin, ns, installed_crds):
    configs = Collection(admin, f"{GROUP}/v1alpha1", "ProviderConfig", "providerconfigs", ns)
    everywhere = Collection(admin, f"{GROUP}/v1alpha1", "ClusterProviderConfig", "clusterproviderconfigs")
    local = {"source": "Secret", "secretRef": {"name": "s", "key": "k"}}
    created = configs.create("default", spec={"url": "http://shop", "credentials": local})
    assert created["spec"]["retries"] == 3
    refused = everywhere.post(everywhere.object("default", spec={"url": "http://shop", "credentials": local}))
    assert "spec.credentials.secretRef.namespace: Required value" in refused.message
