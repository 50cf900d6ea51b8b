"""What operators and browsers look at: health, metrics, and the front page."""

from __future__ import annotations

import re

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program, events


@pytest.mark.parametrize("page", ["healthz", "livez", "readyz"])
def test_health_is_one_word(server: Program, page: str) -> None:
    answer = server.ask("GET", f"/{page}")
    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_health_in_full_names_every_check(server: Program) -> None:
    text = server.ask("GET", "/readyz?verbose").body.decode()
    assert text == "[+]ping ok\n[+]storage ok\n[+]shutdown ok\nreadyz check passed\n"


def test_a_check_can_be_excluded_or_requested_alone(server: Program) -> None:
    assert b"storage" not in server.ask("GET", "/readyz?verbose&exclude=storage").body
    assert server.ask("GET", "/readyz/storage").body == b"ok"
    assert server.ask("GET", "/readyz/made-up").status == 404


def test_a_browser_gets_a_page_about_the_server(server: Program) -> None:
    answer = server.ask("GET", "/", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"This is a Kubernetes API server" in answer.body


def test_a_program_gets_the_list_of_paths(server: Program) -> None:
    paths = server.ask("GET", "/").json["paths"]
    assert paths == sorted(paths)
    assert {"/api", "/api/v1", "/apis/apps/v1", "/healthz/ping", "/metrics", "/openapi/v3"} <= set(paths)
    assert all(server.ask("GET", path).status == 200 for path in paths if path != "/crossply/backup")


def test_metrics_are_in_the_format_of_prometheus(server: Program) -> None:
    answer = server.ask("GET", "/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    sample = re.compile(r'[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [0-9.e+-]+')
    comment = re.compile(r"# (HELP|TYPE) [a-z_]+ .+")
    lines = answer.body.decode().splitlines()
    assert [line for line in lines if not sample.fullmatch(line) and not comment.fullmatch(line)] == []


def test_requests_are_counted_by_verb_and_outcome(server: Program) -> None:
    labels = 'verb="GET",group="",version="v1",resource="configmaps",subresource="",scope="resource"'
    name = f'apiserver_request_total{{{labels},component="apiserver",code="404"}}'
    before = server.metrics().get(name, 0)
    for _ in range(3):
        server.ask("GET", f"{CONFIG_MAPS}/made-up")
    after = server.metrics()
    assert after[name] == before + 3
    duration = f'apiserver_request_duration_seconds_bucket{{{labels},component="apiserver",le="+Inf"}}'
    assert after[duration] >= 3


def test_applies_are_counted_apart_from_other_patches(server: Program) -> None:
    body = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "counted"}}'
    path = f"{CONFIG_MAPS}/counted?fieldManager=me"
    for content_type in ("application/apply-patch+yaml", "application/merge-patch+json"):
        assert server.ask("PATCH", path, body, Content_Type=content_type).status in (200, 201)
    counted = [name for name in server.metrics() if name.startswith("apiserver_request_total")]
    for verb in ("APPLY", "PATCH"):
        assert any(f'verb="{verb}"' in name and 'resource="configmaps"' in name for name in counted)


def test_metrics_cover_storage_watches_connections_and_the_process(server: Program) -> None:
    with server.watch(f"{CONFIG_MAPS}?watch=1") as response:
        assert next(events(response))["type"] == "ADDED"
        during = server.metrics()
    assert during['apiserver_longrunning_requests{verb="WATCH",component="apiserver"}'] == 1
    assert during['apiserver_current_inflight_requests{request_kind="readOnly"}'] == 1, "this one"
    assert during['apiserver_storage_objects{resource="namespaces"}'] == 4
    assert during["crossply_storage_commits_total"] > 0
    assert during["crossply_storage_revision"] > 1
    assert during["crossply_connections"] >= 2
    assert during["process_resident_memory_bytes"] > 10 << 20
    assert during["process_open_fds"] > 5


def test_metrics_count_the_events_of_watches(server: Program) -> None:
    name = 'apiserver_watch_events_total{group="",version="v1",resource="namespaces"}'
    before = server.metrics().get(name, 0)
    with server.watch("/api/v1/namespaces?watch=1&timeoutSeconds=1") as response:
        assert len(list(events(response))) == 4
    assert server.metrics()[name] == before + 4


def test_responses_do_not_reveal_the_servers_software(server: Program) -> None:
    assert server.ask("GET", "/version").headers["Server"] == "crossply"
    assert server.ask("GET", "/made-up").headers["Server"] == "crossply"
