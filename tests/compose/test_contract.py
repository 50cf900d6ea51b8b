"""Each connection detail of an InfrastructureDefinition comes from exactly one resource (seed 1)."""

from __future__ import annotations

import pytest

from crossply.compose.connection_secret_key_coverage import check_contract
from crossply.compose.errors import ContractBroken
from crossply.kinds.composition import parse_composition
from crossply.kinds.definition import parse_definition

TYPE = {"apiVersion": "example.org/v1", "kind": "Sql"}


def definition(*keys, kind="InfrastructureDefinition"):
    return parse_definition(
        {"kind": kind, "metadata": {"name": "sqls.example.org"}, "spec": {"connectionDetails": list(keys)}}
    )


def composition(*resources, **spec):
    to = [{"base": {}, **resource} for resource in resources]
    return parse_composition({"metadata": {"name": "comp"}, "spec": {"from": TYPE, "to": to, **spec}})


def details(*keys, **fields):
    return {"connectionDetails": [{"fromConnectionSecretKey": key} for key in keys], **fields}


@pytest.mark.parametrize(
    ("keys", "resources", "reason"),
    [
        (("a", "b"), [details("a", "b")], "one resource provides all"),
        (("a", "b"), [details("a"), details("b")], "two share the work"),
        (("a",), [details("a", "extra")], "what the definition does not name is nobody's business"),
        (
            ("a",),
            [{"connectionDetails": [{"name": "a", "fromConnectionSecretKey": "x"}]}],
            "a name of its own",
        ),
        ((), [details("a", "a")], "a definition without details asks for none"),
    ],
)
def test_a_composition_that_provides_every_detail_once_is_accepted(keys, resources, reason):
    check_contract(definition(*keys), composition(*resources))


@pytest.mark.parametrize(
    ("keys", "resources", "message"),
    [
        (("a", "b"), [details("a")], 'no resource provides "b"'),
        (("a",), [details("a"), details("a")], '"a" is provided 2 times, by resource-0, resource-1'),
        (("a",), [details("a", "a", name="db")], '"a" is provided 2 times, by db, db'),
        (("a", "b"), [details("a", "a")], '"a" is provided 2 times, by resource-0, resource-0; no resource'),
    ],
)
def test_a_composition_that_breaks_the_contract_is_refused_with_the_reason(keys, resources, message):
    with pytest.raises(ContractBroken) as caught:
        check_contract(definition(*keys), composition(*resources))
    assert message in str(caught.value)
    assert '"comp"' in str(caught.value)
    assert '"sqls.example.org"' in str(caught.value)


def test_details_of_functions_are_not_known_beforehand():
    step = {"step": "one", "functionRef": {"name": "f"}}
    pipeline = {"mode": "Pipeline", "pipeline": [step]}
    check_contract(definition("a"), composition(**pipeline))


def test_other_definitions_have_no_contract():
    check_contract(definition("a", kind="ApplicationDefinition"), composition(details()))
