"""Privilege escalation is refused."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.apiserver.auth.escalation import check_write
from crossply.apiserver.auth.rbac.role_index import CompiledRole
from crossply.apiserver.auth.rbac.rule_coverage import TooManyParts, uncovered
from crossply.apiserver.auth.rbac.rules import Rule, parse_rule
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.rbac import (
    ADMIN,
    GROUP,
    JANE,
    Object,
    ask,
    authorizer_of,
    binding,
    cluster_binding,
    cluster_role,
    role,
    rule,
    urls,
    user,
)

COVERED = [
    (rule("get list", "pods"), rule("get", "pods"), True, "one of the verbs"),
    (rule("*", "pods"), rule("frob", "pods"), True, "all verbs include any"),
    (rule("get", "pods"), rule("*", "pods"), False, "one verb does not include all"),
    (rule("get", "pods", "core apps"), rule("get", "pods", "apps"), True, "one of the groups"),
    (rule("get", "pods", "core"), rule("get", "pods", "*"), False, "one group is not all"),
    (rule("get", "*"), rule("get", "pods/log"), True, "all resources include subresources"),
    (rule("get", "*/log"), rule("get", "pods/log"), True, "a subresource of everything includes one"),
    (rule("get", "pods"), rule("get", "pods/log"), False, "a resource does not include its subresource"),
    (rule("get", "pods"), rule("get", "pods", names="x"), True, "all names include one"),
    (rule("get", "pods", names="x y"), rule("get", "pods", names="x"), True, "one of the names"),
    (rule("get", "pods", names="x"), rule("get", "pods"), False, "one name is not all"),
    (urls("get", "/a/*"), urls("get", "/a/b"), True, "a path by its beginning"),
    (urls("get", "/a/*"), urls("get", "/a/b/*"), True, "a narrower pattern"),
    (urls("get", "/a/b"), urls("get", "/a/*"), False, "a wider pattern"),
    (rule("*", "*", "*"), urls("get", "/a"), False, "resources do not include paths"),
]


@pytest.mark.parametrize(
    ("owned", "requested", "covers", "reason"), COVERED, ids=[case[3] for case in COVERED]
)
def test_a_rule_covers(owned: Object, requested: Object, covers: bool, reason: str) -> None:
    assert (not uncovered([parse_rule(owned)], [parse_rule(requested)])) is covers, reason


HOLDINGS = (
    role("a", "holder", rule("get list", "configmaps"), rule("create update", "roles rolebindings", GROUP)),
    binding("a", "holder", "holder", user("jane")),
)


def _write(
    body: Object, *policy: Object, caller: Any = JANE, old: Object | None = None, verb: str = "create"
) -> None:
    plurals = {"Role": "roles", "RoleBinding": "rolebindings", "ClusterRole": "clusterroles"}
    resource = plurals.get(body["kind"], "clusterrolebindings")
    metadata = body["metadata"]
    info = ask(verb, resource, metadata.get("namespace", ""), metadata["name"] if old else "", GROUP)
    check_write(authorizer_of(*policy), caller, info, body, old)


def test_a_role_within_ones_own_rights_may_be_written() -> None:
    _write(role("a", "new", rule("get", "configmaps")), *HOLDINGS)


def test_a_role_beyond_ones_own_rights_is_refused_with_all_that_is_missing() -> None:
    expected = role(
        "a", "up", rule("get list", "secrets pods"), rule("get", "deployments", "apps", names="x y")
    )
    with pytest.raises(StatusError) as caught:
        _write(expected, *HOLDINGS)
    assert str(caught.value) == (
        'roles.rbac.authorization.k8s.io "up" is forbidden: user "jane" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n'
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["x"], Verbs:["get"]}\n'
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["y"], Verbs:["get"]}'
    )
    assert caught.value.status == 403
    assert caught.value.body()["details"] == {"name": "up", "group": GROUP, "kind": "roles"}


def test_paths_are_listed_verb_by_verb() -> None:
    with pytest.raises(StatusError) as caught:
        _write(cluster_role("x", urls("get post", "/a /b")))
    assert str(caught.value).splitlines()[1:] == [
        '{NonResourceURLs:["/a"], Verbs:["get"]}',
        '{NonResourceURLs:["/a"], Verbs:["post"]}',
        '{NonResourceURLs:["/b"], Verbs:["get"]}',
        '{NonResourceURLs:["/b"], Verbs:["post"]}',
    ]


def test_bindings_to_missing_roles_are_reported_as_resolution_errors() -> None:
    dangling = binding("a", "d", "nothere", user("jane"))
    with pytest.raises(StatusError) as caught:
        _write(role("a", "up", rule("get", "secrets")), *HOLDINGS, dangling)
    assert str(caught.value).endswith(
        '; resolution errors: [roles.rbac.authorization.k8s.io "nothere" not found]'
    )


def test_rights_in_one_namespace_are_no_rights_in_another_nor_in_the_cluster() -> None:
    for body in (role("b", "new", rule("get", "configmaps")), cluster_role("new", rule("get", "configmaps"))):
        with pytest.raises(StatusError, match="not currently held"):
            _write(body, *HOLDINGS)


def test_the_verb_escalate_lets_one_write_any_role() -> None:
    may = role("a", "may", rule("escalate", "roles", GROUP)), binding("a", "may", "may", user("jane"))
    _write(role("a", "up", rule("*", "*", "*")), *may)
    with pytest.raises(StatusError):
        _write(cluster_role("up", rule("*", "*", "*")), *may)


def test_an_aggregating_role_takes_the_rights_of_an_administrator() -> None:
    selectors = [{"matchLabels": {"a": "b"}}]
    aggregating = cluster_role("agg", aggregationRule={"clusterRoleSelectors": selectors})
    with pytest.raises(StatusError) as caught:
        _write(aggregating)
    assert str(caught.value) == (
        'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to '
        "use the aggregationRule"
    )
    with pytest.raises(StatusError, match="cluster-admin privileges"):
        _write(cluster_role("agg", labels={"now": "plain"}), old=aggregating, verb="update")
    everything = cluster_role("all", rule("*", "*", "*"), urls("*", "*"))
    _write(aggregating, everything, cluster_binding("all", "all", user("jane")))


def test_a_binding_takes_the_rights_of_the_role_it_grants() -> None:
    strong = cluster_role("strong", rule("get", "secrets"))
    with pytest.raises(StatusError) as caught:
        _write(binding("a", "up", "strong", user("jane"), kind="ClusterRole"), *HOLDINGS, strong)
    assert str(caught.value).startswith(
        'rolebindings.rbac.authorization.k8s.io "up" is forbidden: user "jane"'
    )
    assert str(caught.value).endswith('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')
    _write(binding("a", "again", "holder", user("joe")), *HOLDINGS)


def test_the_verb_bind_lets_one_grant_the_named_role_where_one_may() -> None:
    strong = cluster_role("strong", rule("*", "*", "*"))
    may = (
        role("a", "may", rule("bind", "clusterroles", GROUP, names="strong")),
        binding("a", "may", "may", user("jane")),
    )
    _write(binding("a", "up", "strong", user("jane"), kind="ClusterRole"), *may, strong)
    with pytest.raises(StatusError, match="not currently held"):
        _write(cluster_binding("up", "strong", user("jane")), *may, strong)
    with pytest.raises(StatusError, match="not currently held"):
        _write(
            binding("a", "up", "other", user("jane"), kind="ClusterRole"),
            *may,
            cluster_role("other", rule("get", "secrets")),
        )


def test_a_binding_to_a_missing_role_returns_404() -> None:
    with pytest.raises(StatusError) as caught:
        _write(binding("a", "up", "absent", user("jane"), kind="ClusterRole"), *HOLDINGS)
    assert (caught.value.status, str(caught.value)) == (
        404,
        'rolebindings.rbac.authorization.k8s.io "absent" not found',
    )


def test_administrators_and_other_kinds_are_not_checked() -> None:
    _write(cluster_role("all", rule("*", "*", "*")), caller=ADMIN)
    info = RequestInfo("create", "", group="apps", version="v1", namespace="a", resource="deployments")
    check_write(authorizer_of(), JANE, info, {"metadata": {"name": "x"}}, None)


def test_the_garbage_collector_may_change_any_role() -> None:
    old = role("a", "strong", rule("*", "*", "*"))
    owned = {**old, "metadata": {**old["metadata"], "finalizers": ["x"], "managedFields": [{}]}}
    _write(owned, *HOLDINGS, old=old, verb="update")
    relabelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    with pytest.raises(StatusError):
        _write(relabelled, *HOLDINGS, old=old, verb="update")


MANY = tuple(f"x{number}" for number in range(50))


def test_a_small_role_that_combines_very_much_is_refused_unread() -> None:
    """Fifty of each are six million parts, in less than a kilobyte."""
    expected = [Rule(MANY, MANY, MANY, MANY)]
    with pytest.raises(TooManyParts):
        uncovered([Rule(("get",), ("x1",), ("pods",))], expected)
    with pytest.raises(StatusError, match="combine too many API groups") as refused:
        _write(role("a", "big", expected[0].body()), *HOLDINGS)
    assert refused.value.status == 403


def test_many_rules_are_refused_unread() -> None:
    rules = [Rule(("get",), ("",), (f"r{number}",)) for number in range(2000)]
    with pytest.raises(TooManyParts):
        uncovered(rules, rules)


def test_a_rule_that_is_covered_as_a_whole_may_combine_very_much() -> None:
    assert uncovered([Rule(("*",), ("*",), ("*",))], [Rule(MANY, MANY, MANY, MANY)]) == []
    assert uncovered([Rule(MANY, MANY, MANY)], [Rule(MANY, MANY, MANY)]) == []


def test_a_role_of_many_groups_and_resources_matches_by_both() -> None:
    names = tuple(f"x{number}" for number in range(50_000))
    compiled = CompiledRole((Rule(("get",), names, names),))
    assert list(compiled.rules_about(("x1", "*"), ("x2",))) == list(compiled.rules)
    assert list(compiled.rules_about(("y", "*"), ("x2",))) == []
    assert list(compiled.rules_about(("x1", "*"), ("y",))) == []
