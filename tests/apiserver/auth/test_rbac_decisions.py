"""RBAC decisions and the messages of refusals."""

from __future__ import annotations

import time

import pytest

from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import encoder
from tests.support.apiserver.rbac import (
    ADMIN,
    JANE,
    account,
    ask,
    ask_path,
    authorizer_of,
    binding,
    change,
    cluster_binding,
    cluster_role,
    group,
    role,
    rule,
    urls,
    user,
)

CASES = [
    (rule("get", "pods"), ask("get", "pods", "a", "x"), True, "verb, group and resource are named"),
    (rule("get", "pods"), ask("list", "pods", "a"), False, "another verb"),
    (rule("get", "pods"), ask("get", "pods", "a", "x", "apps"), False, "another API group"),
    (rule("get", "pods"), ask("get", "pods/log", "a", "x"), False, "a subresource is a right of its own"),
    (rule("get", "pods/log"), ask("get", "pods/log", "a", "x"), True, "a subresource that is named"),
    (rule("get", "pods/log"), ask("get", "pods", "a", "x"), False, "the right to a subresource alone"),
    (rule("get", "*/status"), ask("get", "pods/status", "a", "x"), True, "a subresource of everything"),
    (rule("get", "*/status"), ask("get", "pods/log", "a", "x"), False, "another subresource of everything"),
    (rule("get", "*/status"), ask("get", "pods", "a", "x"), False, "no subresource asked for"),
    (rule("get", "pods/*"), ask("get", "pods/log", "a", "x"), False, "a star after the slash means nothing"),
    (rule("*", "*", "*"), ask("frob", "widgets/scale", "a", "x", "e.org"), True, "stars for everything"),
    (rule("*", "*", "*"), ask_path("get", "/metrics"), False, "resources say nothing of paths"),
    (rule("get", "secrets", names="x y"), ask("get", "secrets", "a", "y"), True, "a name that is listed"),
    (rule("get", "secrets", names="x y"), ask("get", "secrets", "a", "z"), False, "a name that is not"),
    (rule("list", "secrets", names="x"), ask("list", "secrets", "a"), False, "a list has no name"),
    (rule("create", "secrets", names="x"), ask("create", "secrets", "a"), False, "nor has a create"),
    (urls("get", "/metrics"), ask_path("get", "/metrics"), True, "a path that is named"),
    (urls("get", "/metrics"), ask_path("post", "/metrics"), False, "a path with another verb"),
    (urls("get", "/healthz/*"), ask_path("get", "/healthz/etcd"), True, "a path by its beginning"),
    (urls("get", "/healthz/*"), ask_path("get", "/healthz"), False, "the beginning includes the slash"),
    (urls("*", "*"), ask_path("get", "/anything"), True, "every path"),
    (urls("*", "*"), ask("get", "pods", "a", "x"), False, "paths say nothing of resources"),
    ({}, ask("get", "pods", "a", "x"), False, "a rule that says nothing"),
]


@pytest.mark.parametrize(("granted", "question", "allowed", "reason"), CASES, ids=[case[3] for case in CASES])
def test_a_rule_allows(granted: dict, question: RequestInfo, allowed: bool, reason: str) -> None:
    authorizer = authorizer_of(cluster_role("r", granted), cluster_binding("b", "r", user("jane")))
    assert authorizer.authorize(JANE, question).allowed is allowed, reason
    assert authorizer.authorize(JANE, question).allowed is allowed, "the second answer is the first"


SUBJECTS = [
    (user("jane"), JANE, True, "the user"),
    (user("Jane"), JANE, False, "names are told apart by case"),
    (group("system:authenticated"), JANE, True, "a group of the user"),
    (group("jane"), JANE, False, "a group that is called like the user"),
    (user("system:authenticated"), JANE, False, "a user that is called like the group"),
    (account("bot"), User("system:serviceaccount:a:bot"), True, "an account of the binding's namespace"),
    (account("bot", "b"), User("system:serviceaccount:b:bot"), True, "an account of another namespace"),
    (account("bot", "b"), User("system:serviceaccount:a:bot"), False, "its namesake in this one"),
    ({"kind": "Robot", "name": "jane"}, JANE, False, "a kind of subject that nobody knows"),
]


@pytest.mark.parametrize(
    ("subject", "caller", "allowed", "reason"), SUBJECTS, ids=[case[3] for case in SUBJECTS]
)
def test_a_binding_speaks_to(subject: dict, caller: User, allowed: bool, reason: str) -> None:
    authorizer = authorizer_of(role("a", "r", rule("get", "pods")), binding("a", "b", "r", subject))
    assert authorizer.authorize(caller, ask("get", "pods", "a", "x")).allowed is allowed, reason


def test_an_account_without_namespace_in_a_cluster_role_binding_matches_no_account() -> None:
    authorizer = authorizer_of(
        cluster_role("r", rule("get", "pods")), cluster_binding("b", "r", account("bot"))
    )
    assert not authorizer.authorize(User("system:serviceaccount::bot"), ask("get", "pods")).allowed


def test_a_binding_of_a_namespace_counts_there_only() -> None:
    authorizer = authorizer_of(
        cluster_role("r", rule("get list", "pods")), binding("a", "b", "r", user("jane"), kind="ClusterRole")
    )
    assert authorizer.authorize(JANE, ask("list", "pods", "a")).allowed
    assert not authorizer.authorize(JANE, ask("list", "pods", "b")).allowed
    assert not authorizer.authorize(JANE, ask("list", "pods")).allowed


def test_a_binding_of_the_cluster_cannot_grant_a_role_even_if_a_cluster_role_has_its_name() -> None:
    authorizer = authorizer_of(
        cluster_role("r", rule("*", "*", "*")), cluster_binding("b", "r", user("jane"), kind="Role")
    )
    assert not authorizer.authorize(JANE, ask("list", "pods", "a")).allowed


def test_system_masters_may_do_anything_without_any_role() -> None:
    assert authorizer_of().authorize(ADMIN, ask("frob", "everything", "a")).allowed


def test_the_reason_names_the_binding_the_role_and_the_first_subject_that_applies() -> None:
    authorizer = authorizer_of(
        cluster_role("reader", rule("get", "pods")),
        role("a", "writer", rule("create", "pods")),
        cluster_binding("readers", "reader", group("system:authenticated"), user("jane")),
        binding("a", "writers", "writer", account("bot")),
    )
    assert authorizer.authorize(JANE, ask("get", "pods", "a", "x")).reason == (
        'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" '
        'to Group "system:authenticated"'
    )
    bot = User("system:serviceaccount:a:bot")
    assert authorizer.authorize(bot, ask("create", "pods", "a")).reason == (
        'RBAC: allowed by RoleBinding "writers/a" of Role "writer" to ServiceAccount "bot/a"'
    )


REFUSALS = [
    (
        ask("list", "configmaps", "default"),
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"',
    ),
    (
        ask("list", "nodes"),
        'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    ),
    (
        ask("get", "deployments/scale", "a", "web", "apps"),
        'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments/scale" '
        'in API group "apps" in the namespace "a"',
    ),
    (ask_path("get", "/metrics"), 'forbidden: User "jane" cannot get path "/metrics"'),
    (ask_path("get", "/<b>"), 'forbidden: User "jane" cannot get path "/&lt;b&gt;"'),
]


@pytest.mark.parametrize(("question", "message"), REFUSALS)
def test_the_message_of_a_refusal(question: RequestInfo, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        authorizer_of().require(JANE, question)
    assert str(caught.value) == message
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")


def test_a_refusal_mentions_bindings_to_missing_roles() -> None:
    first = binding("a", "x", "gone", user("jane"))
    two = cluster_binding("y", "lost", user("jane"))
    end = 'cannot list resource "pods" in API group "" in the namespace "a": RBAC: '
    with pytest.raises(StatusError, match=r"RBAC: role\.rbac.* \"gone\" not found$"):
        authorizer_of(first).require(JANE, ask("list", "pods", "a"))
    with pytest.raises(StatusError) as caught:
        authorizer_of(first, two).require(JANE, ask("list", "pods", "a"))
    assert str(caught.value).partition(end)[2] == (
        '[clusterrole.rbac.authorization.k8s.io "lost" not found, '
        'role.rbac.authorization.k8s.io "gone" not found]'
    )


async def test_decisions_track_the_store_and_the_generation_grows() -> None:
    store = await Store.open(None)
    first = change(cluster_role("r", rule("get", "pods")))
    await store.write(first.key, None, encoder(cluster_role("r", rule("get", "pods"))))
    authorizer = Authorizer.watching(store)
    assert not authorizer.authorize(JANE, ask("get", "pods", "a", "x")).allowed
    before = authorizer.generation
    body = cluster_binding("b", "r", user("jane"))
    bound = await store.write(change(body).key, None, encoder(body))
    assert authorizer.generation > before
    assert authorizer.authorize(JANE, ask("get", "pods", "a", "x")).allowed
    before = authorizer.generation
    await store.delete(bound.key, bound.revision, encoder(body))
    assert authorizer.generation > before
    assert not authorizer.authorize(JANE, ask("get", "pods", "a", "x")).allowed, "a kept answer is stale"
    authorizer.stop()
    await store.write(change(body).key, None, encoder(body))
    assert not authorizer.authorize(JANE, ask("get", "pods", "a", "x")).allowed, "it follows no longer"
    await store.close()


def test_a_binding_that_loses_a_subject_or_changes_its_role_counts_at_once() -> None:
    authorizer = authorizer_of(
        cluster_role("r", rule("get", "pods")), cluster_binding("b", "r", user("jane"), user("joe"))
    )
    authorizer._index.apply(change(cluster_binding("b", "r", user("joe")), "MODIFIED"))
    assert not authorizer.authorize(JANE, ask("get", "pods", "a", "x")).allowed
    assert authorizer.authorize(User("joe"), ask("get", "pods", "a", "x")).allowed


def test_an_allowed_decision_is_quick_among_a_thousand_roles() -> None:
    bodies = [cluster_role(f"r{n}", rule("get list", f"things{n} others{n}", "e.org")) for n in range(1000)]
    bodies += [cluster_binding(f"b{n}", f"r{n}", user("jane")) for n in range(1000)]
    authorizer = authorizer_of(*bodies)
    questions = [ask("get", "things7", "a", f"x{n}", "e.org") for n in range(2000)]
    best = min(_seconds_for(authorizer, questions) for _ in range(5)) / len(questions)
    assert best < 20e-6


def _seconds_for(authorizer: Authorizer, questions: list[RequestInfo]) -> float:
    start = time.process_time()
    for question in questions:
        assert authorizer.authorize(JANE, question).allowed
    return time.process_time() - start
