"""`trace` follows requirements, infrastructure and applications of the first design."""

from __future__ import annotations

import pytest

from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import Node

SERVER = {"apiVersion": "cloud.example.org/v1", "kind": "Server", "name": "sql-1"}
SQL = {"apiVersion": "example.org/v1alpha1", "kind": "Sql", "name": "sql"}


def node(kind, namespace, **spec):
    metadata = {"name": "mine", "namespace": namespace} if namespace else {"name": "mine"}
    return Node({"apiVersion": "example.org/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})


def below(parent, secrets=False):
    return [
        (reference.kind, reference.namespace, reference.name)
        for reference in child_references(parent, secrets)
    ]


@pytest.mark.parametrize(
    ("parent", "expected", "reason"),
    [
        (
            node("Sql", "", infrastructure={"composedRefs": [SERVER]}),
            [("Server", "", "sql-1")],
            "infrastructure is composed without a namespace",
        ),
        (
            node("Blog", "web", application={"composedRefs": [SERVER]}),
            [("Server", "web", "sql-1")],
            "an application composes in its own",
        ),
        (
            node("SqlRequirement", "web", infrastructure={"resourceRef": SQL}),
            [("Sql", "", "sql")],
            "a requirement is bound to infrastructure",
        ),
        (node("Sql", "", infrastructure={"size": 3}), [], "a field that a user called so is no machinery"),
    ],
)
def test_children_of_a_node(parent, expected, reason):
    assert below(parent) == expected, reason


def test_a_requirement_has_its_secret_beside_it():
    infrastructure = {"resourceRef": SQL, "writeConnectionSecretToRef": {"name": "sql"}}
    assert ("Secret", "web", "sql") in below(
        node("SqlRequirement", "web", infrastructure=infrastructure), True
    )
