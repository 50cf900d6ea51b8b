"""Figures: what is counted reaches Prometheus as it reads it."""

from __future__ import annotations

import asyncio
import pathlib

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families as parse

from crossply.kube.workqueue import Workqueue
from crossply.record import prometheus
from crossply.record.control_plane_metrics import (
    ALL,
    CLIENT_REQUESTS,
    CONTROLLERS_STARTED,
    CONTROLLERS_STOPPED,
    Exchange,
    host_of,
)
from crossply.record.http_pages import metrics_served, metrics_text
from crossply.record.process_metrics import process_families
from crossply.record.prometheus import Counter, DurationHistogram, Gauge
from crossply.record.workqueue_meter import WorkMeter

REFERENCE = pathlib.Path(__file__).parent.parent.parent / "docs" / "reference" / "metrics.md"


def samples(text: str) -> dict:
    """By name and labels, as Prometheus understands the text."""
    values = {}
    for family in parse(text):
        for sample in family.samples:
            values[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return values


def shown(name: str, /, **labels: str) -> float:
    return samples(metrics_text()).get((name, tuple(sorted(labels.items()))), 0.0)


@given(st.dictionaries(st.text(), st.integers(min_value=1, max_value=2**40), max_size=5))
def test_any_label_is_read_back_as_it_was(counts) -> None:
    counter = Counter("c_total", "Help.", "label")
    for label, count in counts.items():
        counter.of(label).value += count
    assert samples(counter.text()) == {("c_total", (("label", k),)): v for k, v in counts.items()}


def test_durations_are_counted_in_every_bucket_that_they_fit() -> None:
    durations = DurationHistogram("d_seconds", "Help.", "who", bounds=(0.1, 1.0))
    for seconds in (0.1, 0.5, 3.0):
        durations.of("me").add(seconds)
    read = {
        (name, dict(labels).get("le")): value for (name, labels), value in samples(durations.text()).items()
    }
    assert read == {
        ("d_seconds_bucket", "0.1"): 1,
        ("d_seconds_bucket", "1"): 2,
        ("d_seconds_bucket", "+Inf"): 3,
        ("d_seconds_count", None): 3,
        ("d_seconds_sum", None): pytest.approx(3.6),
    }


def test_names_without_end_are_counted_together_once_there_are_too_many(monkeypatch) -> None:
    monkeypatch.setattr(prometheus, "MAX_SERIES", 3)
    counter = Counter("c_total", "Help.", "name")
    for index in range(10):
        counter.of(str(index)).value += 1
    assert {dict(labels)["name"]: value for (_, labels), value in samples(counter.text()).items()} == {
        "0": 1,
        "1": 1,
        "2": 1,
        "other": 7,
    }


def test_a_gauge_is_read_when_the_page_is_shown() -> None:
    now = [1.0]
    gauge = Gauge("g", "Help.", read=lambda: [((), now[0])])
    now[0] = 2.5
    assert samples(gauge.text()) == {("g", ()): 2.5}


async def test_the_page_is_served_in_the_text_format() -> None:
    async def fetch() -> tuple[str, str, int]:
        async with metrics_served("127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/metrics") as reply:
                body = await reply.text()
            async with session.get(f"http://127.0.0.1:{port}/other") as other:
                return reply.headers["Content-Type"], body, other.status

    kind, body, other = await fetch()
    assert kind.startswith("text/plain; version=0.0.4")
    assert samples(body)["process_resident_memory_bytes", ()] > 1_000_000
    assert other == 404


def test_every_metric_is_in_the_reference() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    counted = [family.name for family in ALL] + [family.name for family in process_families()]
    assert [name for name in counted if f"`{name}`" not in page] == []


async def test_how_work_ends_is_counted() -> None:
    async def work(key: str) -> None:
        if key == "bad" and queue.failures(key) == 0:
            queue.retry(key)
        elif key == "later":
            queue.add_after(key, 1000)
        elif key == "broken" and queue.failures(key) == 0:
            raise ValueError(key)
        done.append(key)

    async def play() -> None:
        nonlocal queue
        queue = Workqueue("composite/ends", first_pause=1000)
        task = asyncio.create_task(queue.run(work, 2))
        for key in ("good", "bad", "later", "broken"):
            queue.add(key)
        while len(done) < 3 or len(queue):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    queue: Workqueue[str] = None  # type: ignore[assignment]
    done: list[str] = []
    await play()
    ends = {
        result: shown("controller_runtime_reconcile_total", controller="composite/ends", result=result)
        for result in ("success", "error", "requeue_after")
    }
    assert ends == {"success": 1, "error": 2, "requeue_after": 1}
    assert shown("controller_runtime_reconcile_errors_total", controller="composite/ends") == 2
    assert shown("controller_runtime_reconcile_time_seconds_count", controller="composite/ends") == 4
    names = {"controller": "composite/ends", "name": "composite/ends"}
    assert shown("workqueue_adds_total", **names) == 4
    assert shown("workqueue_retries_total", **names) == 2
    assert shown("workqueue_queue_duration_seconds_count", **names) == 4
    assert (
        CONTROLLERS_STARTED.of("composite/ends").value == CONTROLLERS_STOPPED.of("composite/ends").value == 1
    )


def test_waiting_and_running_work_is_shown() -> None:
    now = [100.0]
    meter = WorkMeter("composite/ages", clock=lambda: now[0])
    for key in ("a", "b", "c"):
        meter.added(key)
    meter.work_started("a")
    now[0] += 2
    meter.work_started("b")
    now[0] += 1
    names = {"controller": "composite/ages", "name": "composite/ages"}
    assert shown("workqueue_depth", **names) == 1
    assert shown("workqueue_unfinished_work_seconds", **names) == 4
    assert shown("workqueue_longest_running_processor_seconds", **names) == 3
    assert shown("controller_runtime_active_workers", controller="composite/ages") == 2
    meter.work_finished("a", "success")
    assert shown("workqueue_longest_running_processor_seconds", **names) == 1


def test_a_queue_that_is_gone_shows_no_depth_but_its_counts_stay() -> None:
    meter = WorkMeter("composite/gone")
    meter.added("a")
    del meter
    text = metrics_text()
    assert 'workqueue_depth{controller="composite/gone"' not in text
    assert 'workqueue_adds_total{controller="composite/gone",name="composite/gone"} 1' in text


def test_a_request_is_counted_once_by_how_it_was_answered() -> None:
    before = CLIENT_REQUESTS.of("200", "GET", "host:1").value
    exchange = Exchange("GET", "host:1")
    exchange.end("200")
    exchange.end("<error>")
    assert CLIENT_REQUESTS.of("200", "GET", "host:1").value == before + 1
    assert shown("rest_client_requests_total", code="<error>", method="GET", host="host:1") == 0


def test_a_host_is_shown_without_a_password() -> None:
    assert host_of("https://user:secret@10.0.0.1:6443/path") == "10.0.0.1:6443"
