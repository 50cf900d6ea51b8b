"""The index and its memory never change an answer: they agree with reading every binding each time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.role_index import RoleIndex
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from tests.support.apiserver.rbac import (
    Object,
    account,
    binding,
    change,
    cluster_binding,
    cluster_role,
    group,
    role,
    user,
)

NAMES = st.sampled_from(["a", "b"])
NAMESPACES = st.sampled_from(["", "one", "two"])
VERBS = st.sampled_from(["get", "list", "*"])
RESOURCES = st.sampled_from(["pods", "pods/log", "*", "*/log", "secrets"])
PATHS = st.sampled_from(["/metrics", "/api", "/api/*", "*"])
USERS = st.builds(
    User,
    st.sampled_from(["jane", "system:serviceaccount:one:bot"]),
    st.lists(st.sampled_from(["g", "h"]), max_size=2, unique=True).map(tuple),
)
SUBJECTS = st.sampled_from(
    [user("jane"), user("joe"), group("g"), group("h"), account("bot"), account("bot", "one")]
)
RULES = st.one_of(
    st.fixed_dictionaries(
        {
            "verbs": st.lists(VERBS, max_size=2),
            "apiGroups": st.lists(st.sampled_from(["", "apps", "*"]), max_size=2),
            "resources": st.lists(RESOURCES, max_size=2),
        },
        optional={"resourceNames": st.lists(NAMES, max_size=2)},
    ),
    st.fixed_dictionaries(
        {"verbs": st.lists(VERBS, max_size=2), "nonResourceURLs": st.lists(PATHS, max_size=2)}
    ),
)
SOME_RULES = st.lists(RULES, max_size=3)


def _role(namespace: str, name: str, rules: list[Object]) -> Object:
    return role(namespace, name, *rules) if namespace else cluster_role(name, *rules)


def _binding(namespace: str, name: str, kind: str, to: str, subjects: list[Object]) -> Object:
    if namespace:
        return binding(namespace, name, to, *subjects, kind=kind)
    return cluster_binding(name, to, *subjects, kind=kind)


ROLES = st.builds(_role, NAMESPACES, NAMES, SOME_RULES)
KINDS = st.sampled_from(["Role", "ClusterRole"])
BINDINGS = st.builds(_binding, NAMESPACES, NAMES, KINDS, NAMES, st.lists(SUBJECTS, max_size=3))
CHANGES = st.lists(st.tuples(st.one_of(ROLES, BINDINGS), st.booleans()), max_size=8)
QUESTIONS = st.one_of(
    st.builds(
        lambda verb, ns, resource, name, api_group: RequestInfo(
            verb, "", group=api_group, namespace=ns, resource=resource.partition("/")[0],
            subresource=resource.partition("/")[2], name=name,
        ),
        st.sampled_from(["get", "list", "create"]),
        NAMESPACES,
        st.sampled_from(["pods", "pods/log", "secrets", "secrets/log"]),
        st.sampled_from(["", "a", "b"]),
        st.sampled_from(["", "apps"]),
    ),
    st.builds(lambda verb, path: RequestInfo(verb, path), st.sampled_from(["get", "post"]),
              st.sampled_from(["/metrics", "/api", "/api/v1"])),
)  # fmt: skip


class Naive:
    """RBAC as one would write it on a napkin."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}

    def allows(self, caller: User, question: RequestInfo) -> bool:
        return any(
            self._matches(granted, question)
            for bound in self.objects.values()
            if "roleRef" in bound and self._applies(bound, caller, question.namespace)
            for granted in self._rules(bound)
        )

    def _applies(self, bound: Object, caller: User, namespace: str) -> bool:
        home = bound["metadata"].get("namespace", "")
        if home and home != namespace:
            return False
        return any(self._is(subject, caller, home) for subject in bound["subjects"])

    def _is(self, subject: Object, caller: User, home: str) -> bool:
        if subject["kind"] == "Group":
            return subject["name"] in caller.groups
        if subject["kind"] == "User":
            return subject["name"] == caller.name
        home = subject.get("namespace") or home
        return bool(home) and caller.name == f"system:serviceaccount:{home}:{subject['name']}"

    def _rules(self, bound: Object) -> list[Object]:
        home, to = bound["metadata"].get("namespace", ""), bound["roleRef"]
        if to["kind"] == "Role":
            result = self.objects.get(("roles", home, to["name"])) if home else None
        else:
            result = self.objects.get(("clusterroles", "", to["name"]))
        return result["rules"] if result else []

    def _matches(self, granted: Object, question: RequestInfo) -> bool:
        if not {"*", question.verb} & set(granted["verbs"]):
            return False
        if not question.resource:
            return any(
                path in ("*", question.path) or (path[-1] == "*" and question.path.startswith(path[:-1]))
                for path in granted.get("nonResourceURLs", [])
            )
        expected = {"*", question.resource}
        if question.subresource:
            expected = {"*", f"{question.resource}/{question.subresource}", f"*/{question.subresource}"}
        names = granted.get("resourceNames")
        return (
            bool({"*", question.group} & set(granted.get("apiGroups", [])))
            and bool(expected & set(granted.get("resources", [])))
            and (not names or question.name in names)
        )


@settings(max_examples=300, deadline=None)
@given(CHANGES, st.lists(st.tuples(USERS, QUESTIONS), min_size=1, max_size=6))
def test_decisions_equal_a_naive_evaluation_after_any_changes(
    changes: list[tuple[Object, bool]], queries: list[tuple[User, RequestInfo]]
) -> None:
    naive, index = Naive(), RoleIndex()
    authorizer = Authorizer(index)
    for body, deleted in changes:
        message = change(body, "DELETED" if deleted else "MODIFIED")
        index.apply(message)
        key = (message.key[0].partition(".")[0], *message.key[1:])
        if deleted:
            naive.objects.pop(key, None)
        else:
            naive.objects[key] = body
        for caller, question in queries:
            assert authorizer.authorize(caller, question).allowed == naive.allows(caller, question)
