"""What a provider observed, compared with the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from crossply.provider import Observation, Ref, SecretValue, managed
from crossply.provider.comparison import external_from
from crossply.provider.managed_kind import managed_kind
from crossply.provider.provider_declaration_errors import UnexpectedValue


@dataclass
class Limits:
    """A part of the parameters."""

    most_rows: int = 10
    note: str | None = None


@managed(group="compare.example.org")
class Table:
    """Parameters of every sort."""

    @dataclass
    class Parameters:
        """Fields that are set, and fields that need not be."""

        size: int = 1
        ratio: float = 0.5
        tags: dict[str, str] = field(default_factory=dict)
        limits: Limits | None = None
        colour: str | None = None
        password: SecretValue | None = None
        owner: Ref[Table] | None = None

    @dataclass
    class Observed:
        """What is shown."""

        row_count: int = 0

    def observe(self, ctx, params): ...
    def create(self, ctx, params): ...
    def update(self, ctx, params): ...
    def delete(self, ctx, params): ...


KIND = managed_kind(Table)


def compared(params, spec=None, **observation):
    return external_from(Observation(**observation), KIND, params, spec or {}, "name")


def test_equal_parameters_are_up_to_date():
    params = Table.Parameters(size=2, ratio=1.0, tags={"a": "b"}, password=SecretValue("x"))
    external = compared(params, actual={"size": 2, "ratio": 1, "tags": {"a": "b"}, "password": "x"})
    assert (external.is_up_to_date, external.differing) == (True, ())


def test_the_fields_that_differ_are_named_as_in_yaml():
    params = Table.Parameters(size=2, tags={"a": "b"}, limits=Limits(5), password=SecretValue("x"))
    actual = {"size": 1, "tags": {}, "limits": Limits(6, "outside"), "password": "y"}
    external = compared(params, actual=actual)
    assert external.differing == ("limits.mostRows", "password", "size", "tags")
    assert not external.is_up_to_date


def test_an_unset_field_does_not_differ_and_is_late_initialized():
    params = Table.Parameters()
    external = compared(params, actual={"colour": "red", "limits": {"most_rows": 3}, "password": "x"})
    assert external.is_up_to_date
    assert external.late_initialized == {"colour": "red", "limits": {"mostRows": 3}}


def test_an_unresolved_reference_is_not_late_initialized():
    params = Table.Parameters()
    actual = {"owner": "somebody"}
    assert compared(params, actual=actual).late_initialized == actual
    spec = {"ownerSelector": {"matchLabels": {}}}
    assert compared(params, spec, actual=actual).late_initialized == {}


def test_a_set_field_that_is_missing_outside_differs():
    assert compared(Table.Parameters(colour="red"), actual={"colour": None}).differing == ("colour",)


def test_a_provider_may_decide_itself():
    params = Table.Parameters(size=2)
    assert compared(params, actual={"size": 1}, up_to_date=True).is_up_to_date
    external = compared(params, actual={"size": 2}, up_to_date=False)
    assert (external.is_up_to_date, external.differing) == (False, ())


@pytest.mark.parametrize(
    ("ready", "condition"),
    [
        (True, ("Ready", "True", "Available", "")),
        (False, ("Ready", "False", "Unavailable", "")),
        ("starting", ("Ready", "False", "Unavailable", "starting")),
    ],
)
def test_readiness_is_a_condition(ready, condition):
    assert compared(Table.Parameters(), ready=ready).ready[:4] == condition


def test_observed_fields_have_their_api_names():
    external = compared(
        Table.Parameters(), observed=Table.Observed(3), connection={"user": "me", "raw": b"\xff"}
    )
    assert external.at_provider == {"rowCount": 3}
    assert external.details == {"user": b"me", "raw": b"\xff"}


def test_a_parameter_that_does_not_exist_is_an_error_of_the_provider():
    with pytest.raises(UnexpectedValue, match="observe returned the parameter 'colours'"):
        compared(Table.Parameters(), actual={"colours": "red"})
