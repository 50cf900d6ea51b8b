"""Invalid paths, queries and methods: the right response, and no data without the right to it."""

from __future__ import annotations

import pytest

from crossply.apiserver.verbs.continue_token import write_token
from tests.support.apiserver.servers import CONFIG_MAPS, Program

FUTURE = write_token(1 << 62, "default/a\x00")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("GET", "/nope", 404, id="no such page"),
        pytest.param("DELETE", "/nope", 404, id="no such page to delete"),
        pytest.param("POST", "/version", 405, id="a page cannot be written"),
        pytest.param("GET", "/api/v2/pods", 404, id="no such version"),
        pytest.param("GET", "/api/v1/nothings", 404, id="no such resource"),
        pytest.param("GET", "/apis/nope.example.org/v1/things", 404, id="no such group"),
        pytest.param("GET", f"{CONFIG_MAPS}/x/y/z", 404, id="no such subresource"),
        pytest.param("GET", f"{CONFIG_MAPS}/..", 400, id="up"),
        pytest.param("GET", f"{CONFIG_MAPS}/%2e%2e", 400, id="up, encoded"),
        pytest.param("GET", "/api/v1/namespaces/../pods", 400, id="up from a namespace"),
        pytest.param("GET", f"{CONFIG_MAPS}/..%2fsecrets", 400, id="up through an encoded slash"),
        pytest.param("GET", f"{CONFIG_MAPS}/a%2Fb", 404, id="an encoded slash"),
        pytest.param("GET", f"{CONFIG_MAPS}/a%00b", 404, id="NUL"),
        pytest.param("GET", f"{CONFIG_MAPS}/a%ff", 404, id="not UTF-8"),
        pytest.param("GET", f"{CONFIG_MAPS}/a%ed%a0%80", 404, id="half of a surrogate pair"),
        pytest.param("GET", f"{CONFIG_MAPS}/{'a' * 5000}", 404, id="a name too long"),
        pytest.param("GET", "//api/v1/namespaces//default", 404, id="empty parts"),
        pytest.param("HEAD", CONFIG_MAPS, 405, id="objects have no HEAD"),
        pytest.param("OPTIONS", CONFIG_MAPS, 405, id="nor OPTIONS"),
        pytest.param("TRACE", CONFIG_MAPS, 405, id="nor TRACE"),
        pytest.param("BREW", CONFIG_MAPS, 400, id="what is no method is not HTTP"),
        pytest.param("PUT", CONFIG_MAPS, 405, id="a list cannot be replaced"),
        pytest.param("PATCH", CONFIG_MAPS, 405, id="nor patched"),
        pytest.param("GET", f"{CONFIG_MAPS}?labelSelector=%3D%3D", 400, id="a selector of nothing"),
        pytest.param("GET", f"{CONFIG_MAPS}?labelSelector=a+in+(", 400, id="a selector cut off"),
        pytest.param(
            "GET", f"{CONFIG_MAPS}?labelSelector={'a%2C' * 5000}", 400, id="a selector of 5,000 terms"
        ),
        pytest.param("GET", f"{CONFIG_MAPS}?fieldSelector=spec.x%3D1", 400, id="a field not selectable"),
        pytest.param("GET", f"{CONFIG_MAPS}?limit=x", 400, id="a limit that is no number"),
        pytest.param("GET", f"{CONFIG_MAPS}?continue=abc", 400, id="a token that nobody gave"),
        pytest.param("GET", f"{CONFIG_MAPS}?continue={FUTURE}", 504, id="a token of a state that is not yet"),
        pytest.param("GET", f"{CONFIG_MAPS}?resourceVersion=x", 400, id="a version that is no number"),
        pytest.param("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=x", 500, id="the same of a watch"),
        pytest.param("GET", f"{CONFIG_MAPS}?timeout=never", 400, id="a timeout that is none"),
    ],
)
def test_the_answer_is_the_right_one(server: Program, method: str, path: str, status: int) -> None:
    assert server.ask(method, path).status == status


def test_the_first_of_two_parameters_counts(server: Program) -> None:
    answer = server.ask("GET", f"{CONFIG_MAPS}?limit=1&limit=x")
    assert answer.status == 200


def test_a_parameter_is_decoded_once(server: Program) -> None:
    answer = server.ask("GET", f"{CONFIG_MAPS}?labelSelector=%2561%253D")
    assert (answer.status, "%61%3D" in answer.message) == (400, True)


@pytest.mark.parametrize("path", ["/", "/api", "/metrics", "/openapi/v2", CONFIG_MAPS, "/crossply/backup"])
@pytest.mark.parametrize("token", ["", "wrong", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9."])
def test_no_client_is_accepted_without_a_good_token(server: Program, path: str, token: str) -> None:
    answer = server.ask("GET", path, token=token)
    assert (answer.status, answer.json["reason"]) == (401, "Unauthorized")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/readyz?verbose"])
def test_anybody_may_ask_for_health_and_version(server: Program, path: str) -> None:
    assert server.ask("GET", path, token="").status == 200


def test_invented_names_do_not_become_metric_labels(server: Program) -> None:
    for number in range(20):
        server.ask("GET", f"/apis/g{number}.example.org/v1/made-up-things/x")
        server.ask("GET", f"{CONFIG_MAPS}/x/made-up-{number}")
    assert not [name for name in server.metrics() if "made-up" in name or "example.org" in name]
