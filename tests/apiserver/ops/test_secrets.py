"""Secrets reach only clients with the right to read them: not logs, errors or process lists."""

from __future__ import annotations

import base64
import json
import pathlib

from tests.support.apiserver.servers import CONFIG_MAPS, Program
from tests.support.apiserver.users import token_file

CANARY = "canary-in-the-coal-mine"
ENCODED = base64.b64encode(CANARY.encode()).decode()
SECRETS = "/api/v1/namespaces/default/secrets"


def _secret(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"password": ENCODED}}


def test_no_secret_is_sent_to_anyone_without_a_request_for_it(tmp_path: pathlib.Path) -> None:
    flags = ("--audit-log", str(tmp_path / "audit.log"), "--audit-level", "request-response")
    server = Program(tmp_path / "data", *flags, "--token-file", token_file(tmp_path))
    secrets = [CANARY, ENCODED, server.token]
    token = server.ask("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}})
    secrets.append(token.json["status"]["token"])
    _use_secrets_rightly(server, secrets[-1])
    errors = _use_secrets_wrongly(server)
    pages = [server.ask("GET", page).body for page in ("/metrics", "/readyz?verbose", "/", "/openapi/v2")]
    process = pathlib.Path(f"/proc/{server.process.pid}")
    observed = [process.joinpath(name).read_bytes() for name in ("cmdline", "environ")]
    assert server.stop() == 0
    message = b"\n".join(
        [*errors, *pages, *observed, server.log.read_bytes(), (tmp_path / "audit.log").read_bytes()]
    ).decode(errors="replace")
    assert [secret for secret in secrets if secret in message] == []
    assert message.count("audit.k8s.io/v1") > 10, "there was something to look at"


def _use_secrets_rightly(server: Program, token: str) -> None:
    assert server.ask("POST", SECRETS, _secret("good")).status == 201
    assert server.ask("PUT", f"{SECRETS}/good", _secret("good")).status == 200
    patch = json.dumps({"stringData": {"other": CANARY}}).encode()
    merge = "application/merge-patch+json"
    assert server.ask("PATCH", f"{SECRETS}/good", patch, Content_Type=merge).status == 200
    apply = json.dumps(_secret("applied")).encode()
    yaml = "application/apply-patch+yaml"
    path = f"{SECRETS}/applied?fieldManager=me"
    assert server.ask("PATCH", path, apply, Content_Type=yaml).status == 201
    assert ENCODED.encode() in server.ask("GET", SECRETS).body, "who may read it gets it"
    review = {"spec": {"token": token}}
    assert server.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review).status == 201
    with server.watch(f"{SECRETS}?watch=1&timeoutSeconds=1") as response:
        assert ENCODED.encode() in response.read()


def _use_secrets_wrongly(server: Program) -> list[bytes]:
    """Every way to get an error about a secret; the errors."""
    complete = json.dumps(_secret("bad"))
    merge = "application/merge-patch+json"
    bad_value = {**_secret("bad"), "data": {"a": f"{CANARY}!not-base64"}}
    answers = [
        server.ask("POST", SECRETS, complete[:-1].encode(), Content_Type="application/json"),
        server.ask("POST", SECRETS, f"{complete[:-1]}: [".encode(), Content_Type="application/yaml"),
        server.ask(
            "POST", SECRETS, b"k8s\0" + complete.encode(), Content_Type="application/vnd.kubernetes.protobuf"
        ),
        server.ask("POST", SECRETS, bad_value),
        server.ask("POST", SECRETS, {**_secret("Bad Name"), "type": "Opaque"}),
        server.ask("POST", f"{SECRETS}?fieldValidation=Strict", {**_secret("bad"), "extra": 1}),
        server.ask("POST", CONFIG_MAPS, _secret("bad")),
        server.ask(
            "PATCH", f"{SECRETS}/good", f'{{"stringData": {{"a": "{CANARY}"'.encode(), Content_Type=merge
        ),
        server.ask("PUT", f"{SECRETS}/missing", {**_secret("missing"), "metadata": {"name": "other"}}),
        server.ask("GET", "/readyz", token=CANARY),
        server.ask("POST", SECRETS, _secret("bad"), token="wrong"),
        server.ask("GET", "/api", Authorization=f"Basic {ENCODED}"),
    ]
    assert {answer.status for answer in answers} <= {400, 401, 404, 409, 415, 422}
    return [answer.body for answer in answers]
