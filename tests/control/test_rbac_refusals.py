"""A refusal of the API server becomes a sentence that says who may not do what, and what grants it."""

from __future__ import annotations

import pytest

from crossply.compose.errors import ComposeError
from crossply.control.definitions.service_account import explain_refusal, grant, refusal_in
from crossply.kinds.definition import parse_definition

IN_NAMESPACE = (
    'cannot apply: configmaps "a" is forbidden: User "system:serviceaccount:ops:blog" cannot patch resource '
    '"configmaps" in API group "" in the namespace "web"'
)
IN_CLUSTER = (
    'servers.cloud.org "a" is forbidden: User "system:serviceaccount:ops:blog" cannot create resource '
    '"servers/status" in API group "cloud.org" at the cluster scope'
)


@pytest.mark.parametrize(
    ("message", "commands", "reason"),
    [
        (
            IN_NAMESPACE,
            (
                "kubectl create role blog-configmaps --verb=get,create,patch,delete "
                "--resource=configmaps -n web",
                "kubectl create rolebinding blog-configmaps --role=blog-configmaps "
                "--serviceaccount=ops:blog -n web",
            ),
            "what composing takes, not only what failed first",
        ),
        (
            IN_CLUSTER,
            (
                "kubectl create clusterrole blog-servers.cloud.org --verb=get,create,patch,delete "
                "--resource=servers.cloud.org",
                "kubectl create clusterrolebinding blog-servers.cloud.org "
                "--clusterrole=blog-servers.cloud.org --serviceaccount=ops:blog",
            ),
            "without a namespace it takes a ClusterRole",
        ),
        (
            'User "crossply" cannot impersonate resource "serviceaccounts" in API group "" '
            'in the namespace "ops"',
            (
                "kubectl create role crossply-serviceaccounts --verb=impersonate "
                "--resource=serviceaccounts -n ops",
                "kubectl create rolebinding crossply-serviceaccounts --role=crossply-serviceaccounts "
                "--user=crossply -n ops",
            ),
            "the controllers themselves may lack the right to act for the account",
        ),
        (
            f"cannot get composed resource: {IN_NAMESPACE.replace('patch', 'get')}",
            (
                "kubectl create role blog-configmaps --verb=get,create,patch,delete "
                "--resource=configmaps -n web",
                "kubectl create rolebinding blog-configmaps --role=blog-configmaps "
                "--serviceaccount=ops:blog -n web",
            ),
            "what is composed is to be written next",
        ),
        (
            IN_NAMESPACE.replace("patch", "list"),
            (
                "kubectl create role blog-configmaps --verb=get,list --resource=configmaps -n web",
                "kubectl create rolebinding blog-configmaps --role=blog-configmaps "
                "--serviceaccount=ops:blog -n web",
            ),
            "who only reads is given no more",
        ),
    ],
)
def test_the_commands_that_grant_what_was_refused(message, commands, reason):
    refusal = refusal_in(message)
    assert refusal is not None
    assert grant(refusal) == commands, reason


def definition(**spec):
    return parse_definition({"kind": "CompositeResourceDefinition", "metadata": {"name": "x"}, "spec": spec})


def test_a_refusal_of_the_account_that_was_acted_for_is_explained():
    account = {"namespace": "ops", "name": "blog"}
    problem = ComposeError(IN_NAMESPACE)
    explain_refusal(problem, definition(serviceAccountRef=account))
    assert str(problem).startswith(f"{IN_NAMESPACE}. service account ops/blog may not patch configmaps")
    other = ComposeError("something else")
    explain_refusal(other, definition(serviceAccountRef=account))
    assert str(other) == "something else"


@pytest.mark.parametrize(
    ("verb", "verbs", "reason"),
    [
        ("patch", "get,list,watch,create,update,patch,delete", "what is composed is watched, too"),
        ("list", "get,list,watch", "what is only required is not written"),
        ("watch", "get,list,watch", "nor is what is only followed"),
    ],
)
def test_a_refusal_of_the_controllers_themselves_is_answered_by_a_role_that_they_gather(verb, verbs, reason):
    problem = ComposeError(IN_CLUSTER.replace("create", verb))
    explain_refusal(problem, definition())
    assert str(problem).endswith(
        "to grant it: kubectl create clusterrole crossplane:composed:servers.cloud.org "
        f"--verb={verbs} --resource=servers.cloud.org && kubectl label clusterrole "
        "crossplane:composed:servers.cloud.org rbac.crossplane.io/aggregate-to-crossplane=true"
    ), reason


def test_the_controllers_themselves_only_watch_what_an_account_composes():
    watched = IN_CLUSTER.replace("ops:blog", "system:crossply").replace("create", "watch")
    problem = ComposeError(f"cannot watch composed resources: {watched}")
    explain_refusal(problem, definition(serviceAccountRef={"namespace": "ops", "name": "blog"}))
    assert "crossplane:composed:servers.cloud.org --verb=get,list,watch --resource" in str(problem)
