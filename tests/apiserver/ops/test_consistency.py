"""Many clients on the same objects: one order of versions, one winner of each race, consistent pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from crossply.apiserver.http.limits import Limits
from crossply.apiserver.verbs import watch as watching
from tests.support.apiserver.servers import CONFIG_MAPS, Program, Threaded, config_map, events

SECRETS = "/api/v1/namespaces/default/secrets"


def _at_once(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_of_many_writers_of_the_same_version_one_wins(server: Program) -> None:
    for round_ in range(3):
        name = f"race-{round_}"
        version = server.create_map(name).json["metadata"]["resourceVersion"]
        statuses: list[int] = []

        def change(
            number: int, name: str = name, version: str = version, statuses: list[int] = statuses
        ) -> None:
            body = config_map(name, winner=str(number))
            body["metadata"]["resourceVersion"] = version
            statuses.append(server.ask("PUT", f"{CONFIG_MAPS}/{name}", body).status)

        _at_once(8, change)
        assert sorted(statuses) == [200] + [409] * 7


def test_of_many_creators_of_the_same_object_one_wins(server: Program) -> None:
    statuses: list[int] = []
    _at_once(8, lambda _: statuses.append(server.create_map("one").status))
    assert sorted(statuses) == [201] + [409] * 7


def test_all_watches_show_the_same_order_which_is_the_order_of_versions(server: Program) -> None:
    start = server.ask("GET", SECRETS).json["metadata"]["resourceVersion"]
    written: list[int] = []

    def write(number: int) -> None:
        for second in range(5):
            secret = {"metadata": {"name": f"s-{number}-{second}"}}
            answer = server.ask("POST", SECRETS, secret)
            written.append(int(answer.json["metadata"]["resourceVersion"]))

    _at_once(8, write)
    for path in (SECRETS, "/api/v1/secrets"):
        with server.watch(f"{path}?watch=1&timeoutSeconds=1&resourceVersion={start}") as watch:
            observed = [int(event["object"]["metadata"]["resourceVersion"]) for event in events(watch)]
        assert observed == sorted(written)
    assert len(set(written)) == 40


def test_pages_come_from_one_snapshot_while_others_write(server: Program) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    for number in range(10):
        server.ask("POST", accounts, {"metadata": {"name": f"a{number}"}})
    page = server.ask("GET", f"{accounts}?limit=4").json
    server.ask("DELETE", f"{accounts}/a8")
    server.ask("POST", accounts, {"metadata": {"name": "a55"}})
    names = [item["metadata"]["name"] for item in page["items"]]
    versions = {page["metadata"]["resourceVersion"]}
    while token := page["metadata"].get("continue"):
        page = server.ask("GET", f"{accounts}?limit=4&continue={token}").json
        names += [item["metadata"]["name"] for item in page["items"]]
        versions.add(page["metadata"]["resourceVersion"])
    assert names == [f"a{number}" for number in range(10)] + ["default"]
    assert len(versions) == 1


@pytest.fixture
def threaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Threaded]:
    with Threaded(tmp_path_factory.mktemp("threaded"), Limits()) as server:
        yield server


def test_an_idle_watch_gets_bookmarks(threaded: Threaded, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watching.BOOKMARK_SECONDS <= 60
    monkeypatch.setattr(watching, "BOOKMARK_SECONDS", 0.05)
    version = threaded.create_map("other").json["metadata"]["resourceVersion"]
    query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}"
    with threaded.watch(f"/api/v1/services?{query}") as watch:
        observed = events(watch)
        marks = [next(observed), next(observed)]
    assert [mark["type"] for mark in marks] == ["BOOKMARK", "BOOKMARK"]
    assert all(int(mark["object"]["metadata"]["resourceVersion"]) >= int(version) for mark in marks)


def test_compacted_history_returns_410(threaded: Threaded) -> None:
    for number in range(5):
        threaded.create_map(f"m{number}")
    page = threaded.ask("GET", f"{CONFIG_MAPS}?limit=2").json
    threaded.create_map("m5")
    threaded.run(threaded.store.compact())
    with threaded.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion=2") as watch:
        (event,) = list(events(watch))
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
    answer = threaded.ask("GET", f"{CONFIG_MAPS}?limit=2&continue={page['metadata']['continue']}")
    assert answer.status == 410
    token = answer.json["metadata"]["continue"]
    rest = threaded.ask("GET", f"{CONFIG_MAPS}?continue={token}").json["items"]
    assert [item["metadata"]["name"] for item in rest] == ["m1", "m2", "m3", "m4", "m5"]
