"""The roles and bindings that a server starts with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import orjson
import pytest

from crossply.apiserver.auth.bootstrap_reconciliation import ensure_policy
from crossply.apiserver.auth.cluster_role_aggregation import AggregationController, store_writer
from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.role_index import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import encoder
from tests.support.apiserver.rbac import (
    ADMIN,
    GROUP,
    JANE,
    Object,
    ask,
    ask_path,
    binding,
    change,
    rule,
    user,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def _with_policy(scenario: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await Store.open(None)
        await ensure_policy(store, NOW)
        await scenario(store)
        await store.close()

    asyncio.run(run())


def _stored(store: Store, resource: str, name: str) -> Object:
    entry = store.get((resource, "", name))
    assert entry is not None
    return orjson.loads(entry.data)


NOBODY = User("system:anonymous", ("system:unauthenticated",))
BY_DEFAULT = [
    (ADMIN, ask("delete", "nodes", name="x"), True, "administrators may do anything"),
    (
        JANE,
        ask("create", "selfsubjectaccessreviews", api_group="authorization.k8s.io"),
        True,
        "ask for oneself",
    ),
    (JANE, ask("create", "subjectaccessreviews", api_group="authorization.k8s.io"), False, "ask for others"),
    (JANE, ask("create", "selfsubjectreviews", api_group="authentication.k8s.io"), True, "ask who one is"),
    (JANE, ask("create", "tokenreviews", api_group="authentication.k8s.io"), False, "try others' tokens"),
    (JANE, ask_path("get", "/apis/apps/v1"), True, "discovery"),
    (JANE, ask_path("get", "/metrics"), False, "metrics"),
    (User("m", ("system:monitoring",)), ask_path("get", "/metrics"), True, "metrics for monitoring"),
    (NOBODY, ask_path("get", "/version"), True, "the version is public"),
    (NOBODY, ask_path("get", "/api"), False, "discovery is not"),
    (JANE, ask("list", "pods", "a"), False, "nothing else"),
]


@pytest.mark.parametrize(
    ("caller", "question", "allowed", "reason"), BY_DEFAULT, ids=[c[3] for c in BY_DEFAULT]
)
def test_by_default(caller: User, question: RequestInfo, allowed: bool, reason: str) -> None:
    async def scenario(store: Store) -> None:
        assert Authorizer.watching(store).authorize(caller, question).allowed is allowed, reason

    _with_policy(scenario)


WITH_ROLE = [
    ("view", ask("list", "configmaps", "a"), True, "viewers read"),
    ("view", ask("get", "secrets", "a", "x"), False, "but no secrets"),
    ("view", ask("create", "configmaps", "a"), False, "nor do they write"),
    ("edit", ask("list", "configmaps", "a"), True, "editors read through aggregation"),
    ("edit", ask("create", "secrets", "a"), True, "editors write"),
    ("edit", ask("create", "roles", "a", api_group=GROUP), False, "but no roles"),
    ("admin", ask("create", "roles", "a", api_group=GROUP), True, "administrators of a namespace do"),
    ("admin", ask("list", "configmaps", "a"), True, "and have what editors have"),
    ("admin", ask("list", "configmaps", "b"), False, "there only"),
]


@pytest.mark.parametrize(("name", "question", "allowed", "reason"), WITH_ROLE, ids=[c[3] for c in WITH_ROLE])
def test_a_user_facing_role(name: str, question: RequestInfo, allowed: bool, reason: str) -> None:
    async def scenario(store: Store) -> None:
        bound = binding("a", "b", name, user("joe"), kind="ClusterRole")
        await store.write(change(bound).key, None, encoder(bound))
        assert Authorizer.watching(store).authorize(User("joe"), question).allowed is allowed, reason

    _with_policy(scenario)


def test_default_objects_are_marked_as_such_and_have_an_identity() -> None:
    async def scenario(store: Store) -> None:
        metadata = _stored(store, CLUSTER_ROLES, "edit")["metadata"]
        assert metadata["labels"]["kubernetes.io/bootstrapping"] == "rbac-defaults"
        assert metadata["labels"][f"{GROUP}/aggregate-to-admin"] == "true"
        assert metadata["annotations"] == {"rbac.authorization.kubernetes.io/autoupdate": "true"}
        assert metadata["creationTimestamp"] == "2026-01-02T03:04:05Z"
        assert len(metadata["uid"]) == 36

    _with_policy(scenario)


def test_the_aggregation_controller_has_nothing_to_do_after_the_start() -> None:
    async def scenario(store: Store) -> None:
        assert AggregationController(store, store_writer(store, lambda: NOW)).next_change() is None

    _with_policy(scenario)


def test_a_second_start_changes_nothing() -> None:
    async def scenario(store: Store) -> None:
        before = store.revision
        await ensure_policy(store, NOW)
        assert store.revision == before

    _with_policy(scenario)


def test_removed_rules_are_restored_and_added_ones_stay() -> None:
    async def scenario(store: Store) -> None:
        body = _stored(store, CLUSTER_ROLES, "system:basic-user")
        body["rules"] = [body["rules"][0], rule("get", "things")]
        await _replace(store, CLUSTER_ROLES, body)
        bound = _stored(store, CLUSTER_ROLE_BINDINGS, "system:discovery")
        bound["subjects"] = [user("joe")]
        await _replace(store, CLUSTER_ROLE_BINDINGS, bound)
        await ensure_policy(store, NOW)
        resources = [r["resources"] for r in _stored(store, CLUSTER_ROLES, "system:basic-user")["rules"]]
        assert resources[1:] == [["things"], ["selfsubjectreviews"]]
        subjects = _stored(store, CLUSTER_ROLE_BINDINGS, "system:discovery")["subjects"]
        assert [subject["name"] for subject in subjects] == ["joe", "system:authenticated"]

    _with_policy(scenario)


def test_an_object_that_opted_out_is_left_alone() -> None:
    async def scenario(store: Store) -> None:
        bound = _stored(store, CLUSTER_ROLE_BINDINGS, "system:discovery")
        bound["subjects"] = []
        bound["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] = "false"
        await _replace(store, CLUSTER_ROLE_BINDINGS, bound)
        await ensure_policy(store, NOW)
        assert _stored(store, CLUSTER_ROLE_BINDINGS, "system:discovery")["subjects"] == []

    _with_policy(scenario)


async def _replace(store: Store, resource: str, body: Object) -> None:
    key = (resource, "", body["metadata"]["name"])
    entry = store.latest(key)
    assert entry is not None
    await store.write(key, entry.revision, encoder(body))
