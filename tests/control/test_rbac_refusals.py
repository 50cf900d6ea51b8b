"""A refusal of the API server becomes a message with user, verb and resource, and the granting command."""

from __future__ import annotations

import pytest

from crossply.compose.errors import ComposeError
from crossply.control.composites.service_account import explain_refusal
from crossply.control.rbac_grant_commands import Composed, Place, explained, grant, read_refusal
from crossply.kinds.definition import parse_definition
from crossply.kube.failures import Forbidden

IN_NAMESPACE = (
    'cannot apply: configmaps "a" is forbidden: User "system:serviceaccount:ops:blog" cannot patch resource '
    '"configmaps" in API group "" in the namespace "web"'
)
IN_CLUSTER = (
    'servers.cloud.org "a" is forbidden: User "system:serviceaccount:ops:blog" cannot create resource '
    '"servers/status" in API group "cloud.org" at the cluster scope'
)


WRITES, READS = "get,create,patch,delete", "get,list"
IMPERSONATE = (
    'serviceaccounts "blog" is forbidden: User "crossply" cannot impersonate resource "serviceaccounts" in '
    'API group "" in the namespace "ops"'
)


@pytest.mark.parametrize(
    ("message", "kind", "verbs", "resource", "subject", "reason"),
    [
        (
            IN_NAMESPACE,
            "role",
            WRITES,
            "configmaps -n web",
            "--serviceaccount=ops:blog",
            "all it takes",
        ),
        (IN_CLUSTER, "clusterrole", WRITES, "servers.cloud.org", "--serviceaccount=ops:blog", "no namespace"),
        (
            IMPERSONATE,
            "role",
            "impersonate",
            "serviceaccounts --resource-name=blog -n ops",
            "--user=crossply",
            "acting for it, and for no other account",
        ),
        (
            IN_NAMESPACE.replace("patch", "get").replace("configmaps", "secrets"),
            "role",
            "get",
            "secrets --resource-name=a -n web",
            "--serviceaccount=ops:blog",
            "one Secret is read, not all of the namespace",
        ),
        (
            IN_NAMESPACE.replace("patch", "list"),
            "role",
            READS,
            "configmaps -n web",
            "--serviceaccount=ops:blog",
            "who only reads is given no more",
        ),
    ],
)
def test_the_commands_that_grant_a_refused_right(message, kind, verbs, resource, subject, reason):
    refusal = read_refusal(message)
    assert refusal is not None
    role, binding = grant(refusal)
    name = role.split()[3]
    place = resource[resource.index("-n ") :] if "-n " in resource else ""
    command = f"kubectl create {kind} {name} --verb={verbs} --resource={resource}"
    bound = " ".join(f"kubectl create {kind}binding {name} --{kind}={name} {subject} {place}".split())
    applied = "--dry-run=client -o yaml | kubectl apply -f -"
    assert (role, binding) == (f"{command} {applied}", f"{bound} {applied}"), reason


@pytest.mark.parametrize(
    ("verb", "place", "verbs", "reason"),
    [
        ("get", Place("configmaps", "web"), WRITES, "what is composed is to be written next"),
        ("get", Place("configmaps", "shop"), READS, "what is composed elsewhere is only read here"),
        ("get", Place("secrets", "web"), READS, "what is not composed is only read"),
    ],
)
def test_composed_kinds_are_granted_for_writing(verb, place, verbs, reason):
    composed = Composed("blog", frozenset({place}))
    refusal = read_refusal(IN_NAMESPACE.replace("patch", verb), composed)
    assert refusal is not None
    commands = [command for command in grant(refusal, composed) if "binding" not in command]
    assert any(f"--verb={verbs} --resource=configmaps" in command for command in commands), reason


def test_a_kind_that_is_composed_anywhere_is_listed_in_the_whole_cluster():
    composed = Composed("blog", frozenset({Place("servers.cloud.org", "web")}))
    refusal = read_refusal(IN_CLUSTER.replace("create", "list"), composed)
    assert refusal is not None
    assert refusal.is_composed


def refused(message, prefix=""):
    """An error that a refusal of the API server caused."""
    problem = ComposeError(f"{prefix}{message}")
    problem.__cause__ = Forbidden(message, status=403)
    return problem


def test_a_message_without_a_refusal_behind_it_is_left_alone():
    assert explained(IN_NAMESPACE, ComposeError(IN_NAMESPACE)) == IN_NAMESPACE


def roles(message, composed):
    return [
        command.split()[3] for command in grant(read_refusal(message), composed) if "binding" not in command
    ]


def test_an_account_is_granted_all_that_a_composition_composes_in_every_place():
    places = {Place("configmaps", "web"), Place("secrets", "web"), Place("servers.cloud.org", "")}
    commands = grant(read_refusal(IN_NAMESPACE), Composed("blog", frozenset(places)))
    assert len(commands) == 4
    assert "--resource=servers.cloud.org " in commands[0]
    assert "--resource=configmaps,secrets -n web" in commands[2]


def test_roles_of_different_content_have_different_names():
    alone = Composed("blog", frozenset({Place("configmaps", "web")}))
    more = Composed("blog", frozenset({Place("configmaps", "web"), Place("secrets", "web")}))
    other = Composed("shop", alone.places)
    reading = IN_NAMESPACE.replace("patch", "list")
    elsewhere = IN_NAMESPACE.replace("ops:blog", "dev:blog")
    cases = (
        (IN_NAMESPACE, alone),
        (IN_NAMESPACE, more),
        (IN_NAMESPACE, other),
        (reading, alone),
        (elsewhere, alone),
    )
    names = [roles(message, composed)[0] for message, composed in cases]
    assert len(set(names)) == len(names)
    assert roles(IN_NAMESPACE, alone) == roles(IN_NAMESPACE, alone)


def definition(**spec):
    return parse_definition({"kind": "CompositeResourceDefinition", "metadata": {"name": "x"}, "spec": spec})


def test_a_refusal_of_the_account_that_was_acted_for_is_explained():
    account = {"namespace": "ops", "name": "blog"}
    problem = refused(IN_NAMESPACE)
    problem = explain_refusal(problem, definition(serviceAccountRef=account))
    assert str(problem).startswith(f"{IN_NAMESPACE}. service account ops/blog may not patch configmaps")
    other = ComposeError("something else")
    other = explain_refusal(other, definition(serviceAccountRef=account))
    assert str(other) == "something else"


@pytest.mark.parametrize("message", [IMPERSONATE, IMPERSONATE.partition(": ")[2]])
def test_the_engine_is_granted_to_act_as_the_account_of_a_definition_and_as_no_other(message):
    composed = Composed("blog", frozenset({Place("configmaps", "web")}))
    text = explained(message, refused(message), "system:serviceaccount:ops:blog", composed)
    assert "--verb=impersonate --resource=serviceaccounts --resource-name=blog -n ops" in text
    assert "configmaps" not in text


@pytest.mark.parametrize(
    ("message", "rights"),
    [
        (
            'secrets "creds" is forbidden: User "crossply" cannot get resource "secrets" in API group "" '
            'in the namespace "ops"',
            "--verb=get --resource=secrets --resource-name=creds",
        ),
        (
            'users "crossply:keeper" is forbidden: User "crossply" cannot impersonate resource "users" in '
            'API group "" at the cluster scope',
            "--verb=impersonate --resource=users --resource-name=crossply:keeper",
        ),
    ],
)
def test_the_controllers_are_granted_the_one_object_that_they_were_refused(message, rights):
    assert f" {rights} --dry-run=client" in explained(message, refused(message))


@pytest.mark.parametrize(
    ("verb", "verbs", "reason"),
    [
        ("patch", "get,list,watch,create,update,patch,delete", "what is composed is watched, too"),
        ("list", "get,list,watch", "what is only required is not written"),
        ("watch", "get,list,watch", "nor is what is only followed"),
    ],
)
def test_a_refusal_of_the_controllers_themselves_is_answered_by_a_role_that_they_gather(verb, verbs, reason):
    message = IN_CLUSTER.replace("create", verb)
    message = explained(message, refused(message))
    role, label = message.partition("to grant it: ")[2].split(" && ")
    name = role.split()[3]
    assert role == (
        f"kubectl create clusterrole {name} --verb={verbs} --resource=servers.cloud.org "
        "--dry-run=client -o yaml | kubectl apply -f -"
    ), reason
    gathered = "rbac.crossplane.io/aggregate-to-crossplane=true"
    assert label == f"kubectl label --overwrite clusterrole {name} {gathered}", reason


def test_the_controllers_themselves_only_watch_the_kinds_an_account_composes():
    watched = IN_CLUSTER.replace("ops:blog", "system:crossply").replace("create", "watch")
    problem = refused(watched, "cannot watch composed resources: ")
    problem = explain_refusal(problem, definition(serviceAccountRef={"namespace": "ops", "name": "blog"}))
    assert "--verb=get,list,watch --resource=servers.cloud.org" in str(problem)
