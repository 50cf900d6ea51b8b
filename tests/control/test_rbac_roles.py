"""The ClusterRoles that come with a definition."""

from __future__ import annotations

import pytest

from crossply.control.definitions.kind_roles import Granted, definition_of, roles_for
from crossply.control.definitions.standing_roles import standing_roles

DEFINITION = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xdbs.example.org", "uid": "u1"},
}
PLAIN = Granted("xdbs.example.org", "example.org", "xdbs")
CLAIMED = PLAIN._replace(claim_plural="dbs")


def by_suffix(granted):
    return {
        role["metadata"]["name"].removeprefix("crossplane:composite:xdbs.example.org:aggregate-to-"): role
        for role in roles_for(DEFINITION, granted)
    }


def grants(role):
    return [(rule["resources"], rule["verbs"]) for rule in role["rules"]]


def test_every_definition_has_four_roles_that_go_with_it():
    roles = by_suffix(PLAIN)
    assert set(roles) == {"crossplane", "edit", "view", "browse"}
    assert {definition_of(role) for role in roles.values()} == {
        ("CompositeResourceDefinition", "xdbs.example.org")
    }


@pytest.mark.parametrize(
    ("suffix", "gathered_by"),
    [
        ("crossplane", {"crossplane"}),
        ("edit", {"admin", "ns-admin", "edit", "ns-edit"}),
        ("view", {"view", "ns-view"}),
        ("browse", {"browse"}),
    ],
)
def test_the_labels_choose_the_aggregating_roles(suffix, gathered_by):
    labels = by_suffix(PLAIN)[suffix]["metadata"]["labels"]
    assert labels == {f"rbac.crossplane.io/aggregate-to-{role}": "true" for role in gathered_by}


@pytest.mark.parametrize(
    ("suffix", "granted", "expected", "reason"),
    [
        ("edit", PLAIN, [(["xdbs", "xdbs/status"], ["*"])], "editors may do everything with the kind"),
        (
            "edit",
            CLAIMED,
            [(["xdbs", "xdbs/status"], ["*"]), (["dbs", "dbs/status"], ["*"])],
            "and with its claim",
        ),
        (
            "view",
            CLAIMED,
            [
                (["xdbs", "xdbs/status"], ["get", "list", "watch"]),
                (["dbs", "dbs/status"], ["get", "list", "watch"]),
            ],
            "viewers read both",
        ),
        ("browse", CLAIMED, [(["xdbs", "xdbs/status"], ["get", "list", "watch"])], "no claims for browsers"),
        (
            "crossplane",
            CLAIMED,
            [
                (["xdbs", "xdbs/status"], ["*"]),
                (["xdbs/finalizers"], ["update"]),
                (["dbs", "dbs/status"], ["*"]),
                (["dbs/finalizers"], ["update"]),
            ],
            "the controllers also set finalizers",
        ),
    ],
)
def test_the_rules_grant_kinds_to_roles(suffix, granted, expected, reason):
    assert grants(by_suffix(granted)[suffix]) == expected, reason


def test_a_foreign_role_belongs_to_no_definition():
    assert definition_of({"metadata": {"name": "view"}}) == ("", "")


def test_every_gathering_role_gathers_its_base():
    roles = {role["metadata"]["name"]: role for role in standing_roles()}
    for name in ("admin", "edit", "view", "browse"):
        labels = roles[f"crossplane-{name}"]["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"]
        assert roles[f"crossplane:aggregate-to-{name}"]["metadata"]["labels"] == labels
