"""No secret reaches the store, in whatever form, wherever a function put it."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import orjson
import pytest

from crossply.compose import effects
from crossply.compose.composed_resources import Composed
from crossply.compose.engine_field_paths import LEGACY
from crossply.compose.events import Event
from crossply.compose.function_messages import (
    Request,
    Resource,
    ResourceSelector,
    Response,
    Result,
    Snapshot,
    State,
)
from crossply.compose.observed_resources import Observed
from crossply.compose.prepared_composition import prepare
from crossply.compose.reconcile import Settings
from crossply.errors import CrossplyError
from crossply.kinds.composition import parse_composition
from crossply.runs.capture import CallNote, Capture
from crossply.runs.compressed_run_records import decompress, read_run
from crossply.runs.finished_run_journal import FILES
from crossply.runs.model import Run
from crossply.runs.recorder import RunSettings, open_recorder
from crossply.runs.redaction import PLACEHOLDER, Redactor
from crossply.runs.sqlite_run_store import RunStore
from crossply.values import gojson

PASSWORD = 'pä"ss/w0rd+{sécret}\\n&more'
TOKEN = "glpat-Zx81_kQw9-TTr"
BINARY = bytes(range(200, 240))
PIN = "7391"
KUBECONFIG = (
    f"users:\n- name: admin\n  user:\n    token: {TOKEN}\n    client-key-data: TFMwdExTMUNSVWRKVGlC\n"
)
SECRETS = (PASSWORD.encode(), TOKEN.encode(), BINARY, KUBECONFIG.encode(), b"TFMwdExTMUNSVWRKVGlC")

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XDatabase",
    "metadata": {"name": "orders", "namespace": "shop", "uid": "u-1", "resourceVersion": "7"},
    "spec": {"note": f"never write {PASSWORD} here", "pin": PIN},
}
COMPOSITION = prepare(
    parse_composition(
        {
            "metadata": {"name": "databases"},
            "spec": {
                "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XDatabase"},
                "mode": "Pipeline",
                "pipeline": [{"step": "make", "functionRef": {"name": "maker"}}],
            },
        }
    )
)


def forms(value: bytes) -> set[bytes]:
    """The forms that a secret must not have in a file."""
    encoded = base64.b64encode(value)
    result = {
        value,
        encoded,
        base64.b64encode(encoded),
        base64.urlsafe_b64encode(value),
        value.hex().encode(),
        value.hex().upper().encode(),
    }
    result |= {base64.b64encode(b"user:" + value)[8:-4]}
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return result
    quoted = {quote(text), quote(text, safe=""), quote_plus(text), orjson.dumps(text)[1:-1].decode()}
    return result | {form.encode() for form in quoted}


def secret(name: str, **data: bytes) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": f"data {PASSWORD}"},
        },
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def leaking_run() -> Capture:
    """A run whose function copies secrets into everything that it can write."""
    everywhere = {
        "plain": PASSWORD,
        "within": f"postgres://user:{PASSWORD}@db/{TOKEN}",
        "base64": base64.b64encode(PASSWORD.encode()).decode(),
        "twice": base64.b64encode(base64.b64encode(TOKEN.encode())).decode(),
        "basic": "Basic " + base64.b64encode(b"user:" + PASSWORD.encode()).decode(),
        "hex": PASSWORD.encode().hex(),
        "HEX": BINARY.hex().upper(),
        "url": f"https://host/?p={quote(PASSWORD, safe='')}&q={quote_plus(PASSWORD)}",
        "json": orjson.dumps({"password": PASSWORD}).decode(),
        "binary": base64.b64encode(BINARY).decode(),
        "part": "the key is TFMwdExTMUNSVWRKVGlC",
        f"key-{TOKEN}": "in a key",
        "pin": PIN,
    }
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "leak"}, "data": everywhere}
    wrapped = {
        "apiVersion": "k.example.org/v1",
        "kind": "Object",
        "spec": {"manifest": secret("in", k=BINARY)},
    }
    observed = Observed(Snapshot(wrapped), {"password": PASSWORD.encode(), "pin": PIN.encode()})
    state = State(
        Resource.of(Snapshot(XR), {"token": TOKEN.encode()}),
        {"object": Resource.of(observed.snapshot, observed.connection_details)},
    )
    credentials = {"cloud": {"key": BINARY, "kubeconfig": KUBECONFIG.encode()}}
    request = Request(state, State(), context={"copied": PASSWORD}, credentials=credentials)
    response = Response(
        desired=State(
            Resource({"status": {"said": PASSWORD}}, {"password": PASSWORD.encode()}),
            {"leak": Resource(config_map), "secret": Resource(secret("out", password=PASSWORD.encode()))},
        ),
        results=(Result(3, f"connected with {PASSWORD} and {TOKEN}"),),
        context={"copied": PASSWORD},
    )
    step = COMPOSITION.steps[0].step
    problem = CrossplyError(f"cannot log in with {PASSWORD}", hint=f"is {TOKEN} right?")
    capture = Capture(XR, Settings(LEGACY, lambda: "2024-01-01T00:00:00Z"), calls=[CallNote("r", False)])
    exchanges: list[Any] = [
        (effects.FetchComposition("databases-1"), COMPOSITION, None),
        (effects.Observe(XR, COMPOSITION), effects.Observation([observed], {"token": TOKEN.encode()}), None),
        (effects.FetchSecret("shop", "cloud"), {"key": BINARY}, None),
        (
            effects.FetchResources(ResourceSelector("v1", "Secret", "other")),
            [Snapshot(secret("other", token=TOKEN.encode(), password=PASSWORD.encode()))],
            None,
        ),
        (effects.Call(step, request), response, None),
        (effects.RecordEvents(XR, (Event("Normal", "Said", f"used {PASSWORD}"),)), None, None),
        (
            effects.ApplyComposed(XR, (Composed("leak", config_map, True, None),)),
            effects.Applied({}, written={"leak": config_map}),
            None,
        ),
        (effects.PublishDetails(XR, {"password": PASSWORD.encode()}), "2024-01-01T00:00:00Z", None),
        (effects.IsNamespaced("v1", "ConfigMap"), None, problem),
    ]
    for effect, answer, failure in exchanges:
        capture.answered(effect, answer, failure, capture.started)
    capture.end(problem)
    return capture


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """The files of a store that has the run, and the run; with the journal as it was before."""
    monkeypatch.setattr("crossply.runs.recorder.BATCH_SECONDS", 600.0)
    recorder = open_recorder(RunSettings(str(tmp_path)))
    assert recorder is not None
    recorder.finish(leaking_run())
    journal = b"".join((tmp_path / name).read_bytes() for name in FILES)
    assert b"redacted-" in journal
    recorder.stop()
    store = RunStore(str(tmp_path))
    run = store.load("")[0]
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    yield {**files, "journal": journal}, run
    store.close()


def test_no_secret_is_in_the_files_of_the_store(stored) -> None:
    files, run = stored
    assert files
    contents = {**files, "record": decompress(run.data), "summary": run.summary}
    leaks = [
        (name, form)
        for name, content in contents.items()
        for value in SECRETS
        for form in forms(value)
        if form in content
    ]
    assert leaks == []


def test_the_placeholder_of_a_secret_is_the_same_everywhere_and_can_be_decoded(stored) -> None:
    run: Run = read_run(stored[1].data)
    copied = run.steps[0].desired_after["resources"]["leak"]["resource"]["data"]
    password = copied["plain"]
    assert PLACEHOLDER.fullmatch(password)
    assert copied["within"].startswith(f"postgres://user:{password}@db/redacted-")
    assert base64.b64decode(copied["base64"]).decode() == password
    assert bytes.fromhex(copied["hex"]).decode() == password
    assert PLACEHOLDER.fullmatch(copied["pin"])
    secret = run.steps[0].desired_after["resources"]["secret"]["resource"]
    assert base64.b64decode(secret["data"]["password"]).decode() == password
    assert run.steps[0].rounds[0].request["observed"]["resources"]["object"]["connectionDetails"] == {
        "password": password,
        "pin": copied["pin"],
    }
    assert password in run.summary.problem
    assert run.world.xr["metadata"]["name"] == "orders"
    assert run.redacted >= 4


def test_the_name_of_the_composite_resource_is_no_secret() -> None:
    data, count = Redactor().redact(
        b'{"name":"orders-db","user":"orders-db"}', [b"orders-db"], ["orders-db x"]
    )
    assert (data, count) == (b'{"name":"orders-db","user":"orders-db"}', 1)


def test_a_placeholder_cannot_be_compared_between_processes() -> None:
    assert Redactor().placeholder(b"hunter2") != Redactor().placeholder(b"hunter2")


AWKWARD = 'pä/ss<w>&o"rd'


@pytest.mark.parametrize(
    ("secret", "copied"),
    [
        pytest.param("hunter2pw\n", base64.b64encode(b"hunter2pw").decode(), id="trimmed, in base64"),
        pytest.param("hunter2pw\n", base64.b64encode(b"me:hunter2pw").decode(), id="trimmed, for basic auth"),
        pytest.param("hunter2pw\n", b"hunter2pw".hex(), id="trimmed, in hex"),
        pytest.param(AWKWARD, json.dumps({"p": AWKWARD}), id="JSON in ASCII"),
        pytest.param(AWKWARD, gojson.dumps({"p": AWKWARD}), id="JSON as Go writes it"),
        pytest.param(AWKWARD, json.dumps(gojson.dumps({"p": AWKWARD})), id="JSON in JSON"),
        pytest.param("pa/ss+word", "pa%2fss%2bword", id="escapes in lower case"),
        pytest.param(
            "??>>hunter",
            base64.urlsafe_b64encode(b"user:??>>hunter").decode(),
            id="a part of base64 for URLs",
        ),
        pytest.param("q7Zp", json.dumps({"pin": base64.b64encode(b"q7Zp").decode()}), id="a short one"),
    ],
)
def test_a_copy_in_another_form_is_replaced(secret: str, copied: str) -> None:
    data, count = Redactor().redact(orjson.dumps({"copied": copied}), [secret.encode()], ())
    assert count == 1
    assert orjson.loads(data)["copied"] != copied


def test_a_trimmed_secret_in_base64_is_the_placeholder_in_base64() -> None:
    redactor = Redactor()
    copied = base64.b64encode(b"hunter2pw").decode()
    data, _ = redactor.redact(orjson.dumps({"copied": copied}), [b"hunter2pw\n"], ())
    assert base64.b64decode(orjson.loads(data)["copied"]).decode() == redactor.placeholder(b"hunter2pw\n")
