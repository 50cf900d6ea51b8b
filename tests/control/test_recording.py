"""Events are recorded once per change, and never so often that they fill the server."""

from __future__ import annotations

import orjson

from crossply.compose.events import Event
from crossply.kube.core_kinds import EVENT
from crossply.kube.event_recorder import BURST, PAUSE, Recorder


def about(name: str, ns: str) -> dict:
    metadata = {"name": name, "namespace": ns, "uid": f"uid-of-{name}"}
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": metadata}


async def recorded_events(client, ns, record) -> list[tuple[str, str]]:
    """What reaches the server while `record` is given a recorder and its clock: names and messages."""

    now = [0.0]
    recorder = Recorder(client, "test", lambda: now[0])
    record(recorder, now)
    await recorder.settle()
    items = map(orjson.loads, (await client.list(EVENT, ns)).items)
    return sorted((item["involvedObject"]["name"], item["message"]) for item in items)


async def test_a_repeated_event_is_recorded_once(client, ns) -> None:
    def record(recorder, now) -> None:
        for _ in range(10):
            recorder.record(about("a", ns), Event("Warning", "Compose", "it is down"))
        recorder.record(about("b", ns), Event("Warning", "Compose", "it is down"))

    assert await recorded_events(client, ns, record) == [("a", "it is down"), ("b", "it is down")]


async def test_an_object_whose_failure_message_changes_every_time_does_not_fill_the_server(
    client, ns
) -> None:
    """Promise: log-flood."""

    def record(recorder, now) -> None:
        for number in range(200):
            recorder.record(about("a", ns), Event("Warning", "Compose", f"failed at {number:03}"))
        recorder.record(about("b", ns), Event("Normal", "Compose", "fine"))
        now[0] += PAUSE
        recorder.record(about("a", ns), Event("Normal", "Compose", "well again"))

    events = await recorded_events(client, ns, record)
    assert [message for name, message in events if name == "a"] == [
        *(f"failed at {number:03}" for number in range(BURST)),
        "well again",
    ]
    assert ("b", "fine") in events
