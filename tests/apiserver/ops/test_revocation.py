"""Revoked rights end at once, also for an open watch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program, events
from tests.support.apiserver.users import JANE, allow, revoke, token_file

WATCH = f"{CONFIG_MAPS}?watch=1"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    directory = tmp_path_factory.mktemp("shared")
    with Program(directory / "data", "--in-memory", "--token-file", token_file(directory)) as program:
        yield program


def test_a_watch_ends_when_its_user_may_not_watch_any_more(shared: Program) -> None:
    allow(shared, "watching", ["watch"], ["configmaps"])
    with shared.watch(WATCH, JANE) as busy, shared.watch(WATCH) as administrators:
        observed = events(busy)
        assert next(observed)["object"]["metadata"]["name"] == "kube-root-ca.crt"
        revoke(shared, "watching")
        shared.create_map("z-afterwards")
        (last,) = list(observed)
        assert (last["type"], last["object"]["code"]) == ("ERROR", 403)
        assert "cannot watch resource" in last["object"]["message"]
        others = events(administrators)
        names = [next(others)["object"]["metadata"]["name"] for _ in range(2)]
        assert names == ["kube-root-ca.crt", "z-afterwards"], "nobody else notices"
    assert shared.ask("GET", WATCH, token=JANE).status == 403
    assert shared.metrics()['crossply_watches_ended_total{reason="forbidden"}'] == 1


def test_a_watch_goes_on_when_other_rights_change(shared: Program) -> None:
    allow(shared, "still-watching", ["watch"], ["pods"])
    with shared.watch("/api/v1/namespaces/default/pods?watch=1", JANE) as watch:
        allow(shared, "more", ["list"], ["secrets"])
        revoke(shared, "more")
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        assert shared.ask("POST", "/api/v1/namespaces/default/pods", pod).status == 201
        assert next(events(watch))["object"]["metadata"]["name"] == "p"


def test_rights_on_a_subresource_are_rights_of_their_own(shared: Program) -> None:
    allow(shared, "accounts", ["get", "create", "update"], ["serviceaccounts"])
    path = "/api/v1/namespaces/default/serviceaccounts/default"
    assert shared.ask("GET", path, token=JANE).status == 200
    assert shared.ask("POST", f"{path}/token", {"spec": {}}, token=JANE).status == 403
    assert shared.ask("GET", path.replace("default", "kube-system", 1), token=JANE).status == 403
