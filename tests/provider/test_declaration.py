"""What a class declares, and which classes are refused when their module is imported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from crossply.errors import CrossplyError
from crossply.provider import (
    Credentials,
    Doc,
    Immutable,
    JsonName,
    Minimum,
    Pattern,
    Ref,
    SecretValue,
    managed,
    provider_config,
)
from crossply.provider.crd import managed_crd
from crossply.provider.field_model import Reference
from crossply.provider.managed_kind import CONFIG, managed_kind, referenced_kind

GROUP = "shop.example.org"


class Methods:
    """The four methods of a kind that does nothing."""

    def observe(self, ctx: Any, params: Any) -> None: ...
    def create(self, ctx: Any, params: Any) -> None: ...
    def update(self, ctx: Any, params: Any) -> None: ...
    def delete(self, ctx: Any, params: Any) -> None: ...


@managed(group=GROUP)
class Knife(Methods):
    """A knife."""

    @dataclass
    class Parameters:
        room: Ref[Room] | None = None  # declared below
        neighbours: list[Ref[Knife]] = field(default_factory=list)


@managed(group=GROUP, scope="Cluster", version="v1")
class Room(Methods):
    @dataclass
    class Parameters:
        door_count: int


def test_a_kind_is_named_by_its_class_and_described_by_its_docstring():
    knife = managed_kind(Knife)
    assert knife.kind.resource == "knives.shop.example.org"
    assert (knife.kind.version, knife.kind.namespaced, knife.description) == ("v1alpha1", True, "A knife.")


def test_references_may_name_a_kind_that_is_declared_later_or_the_kind_itself():
    room, neighbours = managed_kind(Knife).parameters
    assert isinstance(room.type, Reference)
    assert isinstance(neighbours.type, Reference)
    assert referenced_kind(room.type).cls is Room
    assert referenced_kind(neighbours.type).cls is Knife
    assert room.json_names() == ("room", "roomRef", "roomSelector")
    assert neighbours.json_names() == ("neighbours", "neighbourRefs", "neighbourSelector")


def test_a_provider_config_has_kinds_of_both_scopes_and_their_usages():
    @provider_config(group=GROUP)
    @dataclass
    class Config:
        url: str
        credentials: Credentials

    @managed(group=GROUP, config=Config)
    class Thing(Methods):
        @dataclass
        class Parameters:
            size: int = 1

    config = managed_kind(Thing).config
    assert config is not None
    kinds = (config.namespaced, config.cluster, config.namespaced_usage, config.cluster_usage)
    assert [(kind.kind, kind.namespaced) for kind in kinds] == [
        ("ProviderConfig", True),
        ("ClusterProviderConfig", False),
        ("ProviderConfigUsage", True),
        ("ClusterProviderConfigUsage", False),
    ]


class Colour(Enum):
    MIXED = "mixed"
    NUMBER = 1


@dataclass
class Loop:
    inner: list[Loop] = field(default_factory=list)


@dataclass
class Fixed:
    name: Immutable[str] = ""


def declared(parameters: type, **options: Any) -> type:
    """A managed class with these parameters."""
    return managed(group=GROUP, **options)(type("Thing", (Methods,), {"Parameters": parameters}))


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (bytes, "a field cannot be of type bytes"),
        (str | int, "str | int has more than one type"),
        (list, "a list must say of what"),
        (list[str | None], "an item cannot be None"),
        (dict[int, str], "the keys of a dict must be str"),
        (list[SecretValue], "a list or dict of SecretValue is not supported"),
        (dict[str, Ref[Room]], "a dict of references is not supported"),
        (Ref, "a reference must say to which kind"),
        (Ref[Colour], "refers to Colour, which is not decorated with @managed"),
        (Colour, "choices must be all texts or all integers"),
        (Literal[True], "choices must be all texts or all integers"),
        (Loop, "Loop contains itself"),
        ("Nowhere", "name 'Nowhere' is not defined"),
        (Credentials, "cannot be a field of Parameters"),
        (Annotated[str, Minimum(1)], "Minimum does not apply to a value of type string"),
        (Annotated[int, Pattern("a")], "Pattern does not apply to a value of type integer"),
        (list[Immutable[str]], "only a whole field can be Immutable"),
        (list[Fixed], "fields of a list's items cannot be Immutable"),
    ],
)
def test_an_annotation_that_no_crd_can_express_is_refused(annotation: Any, message: str):
    parameters = dataclass(
        type("Parameters", (), {"__annotations__": {"size": annotation}, "__module__": __name__})
    )
    with pytest.raises(CrossplyError) as refused:
        declared(parameters)
    assert message in str(refused.value)


@dataclass
class Plain:
    size: int = 1


@dataclass
class Clash:
    owner: Ref[Room] | None = None
    owner_ref: str | None = None


@dataclass
class WrongDefault:
    size: int = "large"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: declared(Clash), "fields owner and owner_ref both need 'ownerRef' in YAML"),
        (lambda: declared(WrongDefault), "default of size: str is not of type integer"),
        (lambda: declared(Plain, version="1"), "'1' is not a valid version"),
        (lambda: declared(Plain, kind="thing"), "'thing' is not a valid kind"),
        (lambda: declared(Plain, scope="Global"), "scope is 'Global'"),
        (lambda: declared(Plain, config=Plain), "config Plain is not decorated with @provider_config"),
        (lambda: managed(group="shop")(Knife), "'shop' is not a valid group"),
        (lambda: managed(group=GROUP)(Methods), "Methods has no class Parameters"),
        (lambda: managed(group=GROUP)(Plain), "Plain has no method observe"),
        (lambda: declared(Methods), "Methods is not a dataclass"),
        (lambda: managed_kind(Plain), "Plain is not decorated with @managed"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(declare: Any, message: str):
    with pytest.raises(CrossplyError) as refused:
        declare()
    assert message in str(refused.value)


def test_update_may_be_missing_only_where_nothing_can_change():
    @dataclass
    class Steady:
        name: Immutable[str]

    methods = {name: getattr(Methods, name) for name in ("observe", "create", "delete")}
    managed(group=GROUP)(type("Thing", (), {"Parameters": Steady, **methods}))
    with pytest.raises(CrossplyError, match="has no method update"):
        managed(group=GROUP)(type("Thing", (), {"Parameters": Plain, **methods}))


def test_a_method_with_other_arguments_is_refused():
    with pytest.raises(CrossplyError, match=r"Thing.delete must take \(self, ctx, params\)"):

        @managed(group=GROUP)
        class Thing(Methods):
            Parameters = Plain

            def delete(self, ctx: Any) -> None: ...  # type: ignore[override]


def test_fields_carry_their_name_description_and_constraints():
    @dataclass
    class Described:
        api_url: Annotated[str, JsonName("apiURL"), Doc("Where it is."), Pattern("^https:")]
        class_: Literal["a", "b"] = "a"

    url, kind = managed_kind(declared(Described)).parameters
    assert (url.json_name, url.description, url.is_required) == ("apiURL", "Where it is.", True)
    assert (kind.json_name, kind.default) == ("class", "a")


def test_importing_the_kit_and_declaring_a_kind_loads_no_client():
    code = (
        "import sys\nimport crossply.provider\n"
        "assert [name for name in sys.modules if name.startswith('crossply.')] == ['crossply.provider']\n"
        "from crossply.provider import managed, Ref, Observation, Context\n"
        "assert not {'aiohttp', 'asyncio', 'crossply.kube.client'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_provider_of_crossplane_v1_has_one_config_kind_of_the_cluster():
    @provider_config(group="old.example.org", cluster_scoped=True)
    @dataclass
    class OldConfig:
        host: str

    kinds = getattr(OldConfig, CONFIG)
    assert [(kind.kind, kind.namespaced) for kind in (*kinds.configs, *kinds.usages)] == [
        ("ProviderConfig", False),
        ("ProviderConfigUsage", False),
    ]


def test_fields_beside_for_provider_are_declared_by_a_class_spec():
    @managed(group="beside.example.org", scope="Cluster")
    class Thing:
        @dataclass
        class Parameters:
            size: int = 1

        @dataclass
        class Spec:
            watch: bool = False

        def observe(self, ctx: Any, params: Any) -> None: ...
        def create(self, ctx: Any, params: Any) -> None: ...
        def update(self, ctx: Any, params: Any) -> None: ...
        def delete(self, ctx: Any, params: Any) -> None: ...

    crd = managed_crd(managed_kind(Thing))
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["properties"]["watch"] == {"type": "boolean", "default": False}
