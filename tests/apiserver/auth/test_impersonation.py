"""Impersonation."""

from __future__ import annotations

import pytest

from crossply.apiserver.auth.impersonation import Impersonation, impersonate
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.rbac import (
    ADMIN,
    JANE,
    Object,
    ask,
    authorizer_of,
    cluster_binding,
    cluster_role,
    rule,
    user,
)

READ = ask("list", "configmaps", "default")
AUTHENTICATION = "authentication.k8s.io"


class Headers(list[tuple[str, str]]):
    def items(self) -> list[tuple[str, str]]:
        return list(self)


def _impersonate(
    headers: dict[str, str | list[str]], *rules: Object, caller: User = JANE
) -> Impersonation | None:
    sent = Headers()
    for name, values in headers.items():
        sent += [(name, value) for value in ([values] if isinstance(values, str) else values)]
    policy = cluster_role("r", *rules), cluster_binding("b", "r", user("jane"))
    return impersonate(authorizer_of(*policy), caller, READ, sent)


def _acting(headers: dict[str, str | list[str]], *rules: Object, caller: User = JANE) -> User:
    acting = _impersonate(headers, *rules, caller=caller)
    assert acting is not None
    return acting.user


def _refusal(headers: dict[str, str | list[str]], *rules: Object) -> str:
    with pytest.raises(StatusError) as caught:
        _impersonate(headers, *rules)
    assert caught.value.status == 403
    return str(caught.value)


def test_without_headers_no_user_is_impersonated() -> None:
    assert _impersonate({"Accept": "*/*"}) is None


ACTING = [
    ({"Impersonate-User": "joe"}, User("joe", ("system:authenticated",)), "a user"),
    (
        {"impersonate-user": "joe", "IMPERSONATE-GROUP": ["g", "h"]},
        User("joe", ("g", "h", "system:authenticated")),
        "groups, in any letters",
    ),
    (
        {"Impersonate-User": "joe", "Impersonate-Uid": "u", "Impersonate-Extra-Acme.com%2fTeam": ["x", "y"]},
        User("joe", ("system:authenticated",), "u", {"acme.com/team": ("x", "y")}),
        "uid and extra values, whose keys are in small letters",
    ),
    (
        {"Impersonate-User": "system:serviceaccount:a:bot"},
        User(
            "system:serviceaccount:a:bot",
            ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"),
        ),
        "a service account comes with its groups",
    ),
    (
        {"Impersonate-User": "system:serviceaccount:a:bot", "Impersonate-Group": "g"},
        User("system:serviceaccount:a:bot", ("g", "system:authenticated")),
        "unless groups are told",
    ),
    (
        {"Impersonate-User": "system:serviceaccount:bot"},
        User("system:serviceaccount:bot", ("system:authenticated",)),
        "what only looks like a service account is a user",
    ),
    (
        {"Impersonate-User": "system:anonymous"},
        User("system:anonymous", ("system:unauthenticated",)),
        "nobody",
    ),
    (
        {"Impersonate-User": "joe", "Impersonate-Group": "system:unauthenticated"},
        User("joe", ("system:unauthenticated",)),
        "one who is not authenticated",
    ),
    (
        {"Impersonate-User": "system:node:n1"},
        User("system:node:n1", ("system:nodes", "system:authenticated")),
        "a node comes with its group",
    ),
    (
        {"Impersonate-User": "joe", "Impersonate-Group": "system:masters"},
        User("joe", ("system:masters", "system:authenticated")),
        "an administrator may make administrators",
    ),
    (
        {"Impersonate-User": "joe", "Impersonate-Extra-A%zz": "x"},
        User("joe", ("system:authenticated",), extra={"a%zz": ("x",)}),
        "a key with a malformed escape is taken as it is",
    ),
]


@pytest.mark.parametrize(("headers", "acting", "reason"), ACTING, ids=[case[2] for case in ACTING])
def test_an_administrator_acts_as(headers: dict[str, str | list[str]], acting: User, reason: str) -> None:
    assert _acting(headers, caller=ADMIN) == acting, reason


def test_rights_are_checked_one_by_one() -> None:
    rules = [rule("impersonate", "users", names="joe")]
    headers: dict[str, str | list[str]] = {"Impersonate-User": "joe"}
    steps: list[tuple[str, str | list[str], Object]] = [
        ("Impersonate-Uid", "u", rule("impersonate", "uids", AUTHENTICATION, names="u")),
        ("Impersonate-Group", ["g", "h"], rule("impersonate", "groups", names="g h")),
        ("Impersonate-Extra-Scope", "x", rule("impersonate", "userextras/scope", AUTHENTICATION, names="x")),
    ]
    assert _acting(headers, *rules).name == "joe"
    for name, values, needed in steps:
        headers[name] = values
        _refusal(headers, *rules)
        rules.append(needed)
        assert _acting(headers, *rules).name == "joe"


def test_a_service_account_is_checked_in_its_namespace() -> None:
    headers: dict[str, str | list[str]] = {"Impersonate-User": "system:serviceaccount:a:bot"}
    _refusal(headers, rule("impersonate", "users"))
    assert _acting(headers, rule("impersonate", "serviceaccounts")).name.endswith(":bot")


def test_the_refusal_names_the_constrained_right_that_was_missing_first() -> None:
    assert _refusal({"Impersonate-User": "bob"}) == (
        'configmaps is forbidden: User "jane" cannot impersonate-on:user-info:list resource "configmaps" '
        'in API group "" in the namespace "default"'
    )
    assert _refusal({"Impersonate-User": "system:serviceaccount:a:bot"}) == (
        'configmaps is forbidden: User "jane" cannot impersonate-on:serviceaccount:list resource '
        '"configmaps" in API group "" in the namespace "default"'
    )
    assert _refusal({"Impersonate-User": "system:serviceaccount:a:bot", "Impersonate-Group": "g"}) == (
        'serviceaccounts "bot" is forbidden: User "jane" cannot impersonate resource "serviceaccounts" '
        'in API group "" in the namespace "a"'
    )


CONSTRAINED = (
    rule("impersonate-on:user-info:list", "configmaps"),
    rule("impersonate:user-info", "users groups userextras/*", AUTHENTICATION),
)


def test_constrained_rights_allow_the_request_they_name() -> None:
    acting = _impersonate({"Impersonate-User": "joe", "Impersonate-Group": "g"}, *CONSTRAINED)
    assert acting == Impersonation(User("joe", ("g", "system:authenticated")), "impersonate:user-info")


def test_constrained_rights_never_make_an_administrator() -> None:
    message = _refusal({"Impersonate-User": "joe", "Impersonate-Group": "system:masters"}, *CONSTRAINED)
    assert message.endswith("impersonating the system:masters group is not allowed")
    users_only = rule("impersonate:user-info", "users", AUTHENTICATION)
    groups: dict[str, str | list[str]] = {
        "Impersonate-User": "joe",
        "Impersonate-Group": ["h", "system:masters"],
    }
    assert _refusal(groups, CONSTRAINED[0], users_only).endswith("system:masters group is not allowed")


def test_constrained_rights_to_users_are_not_rights_to_service_accounts_or_nodes() -> None:
    for name in ("system:serviceaccount:a:bot", "system:node:n1"):
        _refusal({"Impersonate-User": name}, *CONSTRAINED)


def test_an_account_may_act_as_the_node_it_runs_on_if_it_may_so_for_all_nodes() -> None:
    key = "authentication.kubernetes.io/node-name"
    agent = User("system:serviceaccount:a:agent", ("system:authenticated",), extra={key: ("n1",)})
    policy = (
        cluster_role(
            "r",
            rule("impersonate-on:associated-node:list", "configmaps"),
            rule("impersonate:associated-node", "nodes", AUTHENTICATION),
        ),
        cluster_binding("b", "r", user(agent.name)),
    )
    own, other = (Headers([("Impersonate-User", f"system:node:{name}")]) for name in ("n1", "n2"))
    acting = impersonate(authorizer_of(*policy), agent, READ, own)
    assert acting is not None
    assert acting.user == User("system:node:n1", ("system:nodes", "system:authenticated"))
    with pytest.raises(StatusError, match="cannot impersonate-on:arbitrary-node:list"):
        impersonate(authorizer_of(*policy), agent, READ, other)


NAMELESS = [
    (
        {"Impersonate-Group": "bob"},
        '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"bob"}, Extra:map[string][]string(nil)}',
    ),
    (
        {"Impersonate-Uid": "bob", "Impersonate-Extra-Foo%2fbar": ["x", "y"]},
        '&user.DefaultInfo{Name:"", UID:"bob", Groups:[]string(nil), '
        'Extra:map[string][]string{"foo/bar":[]string{"x", "y"}}}',
    ),
]


@pytest.mark.parametrize(("headers", "message"), NAMELESS)
def test_anything_but_a_user_without_a_user_is_a_bad_request(
    headers: dict[str, str | list[str]], message: str
) -> None:
    with pytest.raises(StatusError) as caught:
        _impersonate(headers, caller=ADMIN)
    assert (caught.value.status, str(caught.value)) == (
        400,
        f"requested {message} without impersonating a user name",
    )
