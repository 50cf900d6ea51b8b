"""Promises about functions (docs/reliability.md): whatever a function does, the control plane holds."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from crossply.compose.messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    STATUS_TRUE,
    Condition,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    State,
)
from crossply.compose.wire import decode_request, encode_response
from tests.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.e2e.scenario import CONFIG_MAP, condition
from tests.e2e.things import (
    FAILED,
    READY,
    SYNCED,
    Things,
    config_map,
    custom_kind,
    desiring,
    failing,
    message_of,
)
from tests.functions.function_peers import free_port, serving

pytestmark = pytest.mark.xdist_group("e2e")


def spec_of(request):
    """What the user asks for."""
    return request.observed.composite.object["spec"]


def test_fn_hang_a_function_that_never_answers_holds_up_only_its_own_xrs(play):
    """Others go on; after the deadline the XR says so, and once the function answers all is well."""
    release = threading.Event()

    def function(request):
        if spec_of(request).get("mode") == "hang":
            release.wait(60)
        return desiring(request, one=config_map())

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        for number in range(3):
            await things.apply(f"hanging-{number}", {"mode": "hang"})
        await things.apply("free")
        await things.until("free", SYNCED, READY)
        other = await Things.defined(s, kind="Other")
        await other.compose(resources(entry("one", SIZE)), name=f"{s.id}-other")
        await other.apply("mine", {"size": "1"})
        await other.until("mine", SYNCED, READY)
        for number in range(3):
            await things.until(f"hanging-{number}", failing("context deadline exceeded"))
        release.set()
        for number in range(3):
            await things.until(f"hanging-{number}", SYNCED, READY)

    with served(function) as address:
        try:
            play(lambda s: scenario(s, address))
        finally:
            release.set()


DYING = """
    import sys
    from crossply.compose.messages import *
    from crossply.functions.server import FunctionServer, ServerSettings
    import os, threading

    def function(request):
        if sys.argv[2] == "old":
            os._exit(3)
        made = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": sys.argv[2]}}
        return Response(State(None, {"one": Resource(made, ready=READY_TRUE)}))

    server = FunctionServer("dying", function, ServerSettings(sys.argv[1]))
    threading.Event().wait()
"""


@contextlib.contextmanager
def dying(port, name):
    """A function in a process of its own; the old one ends in the middle of a call."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(DYING), f"127.0.0.1:{port}", name])
    try:
        until_it_listens(process, port)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(10)


def until_it_listens(process, port):
    """Wait for the process."""
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "it ended before it listened"
        time.sleep(0.05)
    raise AssertionError("it does not listen")


def test_fn_crash_nothing_is_applied_from_a_pipeline_whose_function_died(play):
    """The first step ran, the second died: nothing of the first is applied. Once it is back, all is."""

    async def scenario(s, port):
        things = await Things.defined(s)
        first = resources(entry("first", SIZE), step="first")
        await things.compose(first, await calling(s, f"127.0.0.1:{port}"))
        with dying(port, "old") as process:
            await things.apply("mine", {"size": "1"})
            xr = await things.until("mine", FAILED)
            assert 'cannot run Composition pipeline step "tell"' in message_of(xr)
            process.wait(10)
        assert await things.composed(xr) == {}
        with dying(port, "new"):
            xr = await things.until("mine", SYNCED)
            assert (await things.composed(xr))["one"]["data"] == {"by": "new"}

    play(lambda s: scenario(s, free_port()))


GARBAGE = {
    "no message": lambda data, context: b"\xff\xff\xff\xff not a message",
    "truncated": lambda data, context: encode_response(
        desiring(decode_request(data), one=config_map(data={"a": "b" * 100}))
    )[:-20],
    "html": lambda data, context: b"<html>hello</html>",
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_fn_garbage_a_wrong_answer_is_told_and_nothing_is_applied(play, answer):
    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(resources(entry("first", SIZE)), await calling(s, address))
        await things.apply("mine", {"size": "1"})
        xr = await things.until("mine", failing('cannot run Composition pipeline step "tell"'))
        assert await things.composed(xr) == {}
        await still_works(s)

    with serving(v1=answer) as address:
        play(lambda s: scenario(s, address))


async def still_works(s):
    """Another XR, of another kind, becomes ready: nobody who works was lost."""
    other = await Things.defined(s, kind="Other")
    await other.compose(resources(entry("one", SIZE)), name=f"{s.id}-other")
    await other.apply("witness", {"size": "1"})
    await other.until("witness", SYNCED, READY)


@contextlib.contextmanager
def speaking(pieces, pause=0.0):
    """A port that says something other than gRPC, piece by piece, and then nothing more."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(peer):
        with peer, contextlib.suppress(OSError):
            for piece in pieces:
                peer.sendall(piece)
                time.sleep(pause)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=answer, args=[peer], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html></html>"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
"""The first frame of a server that speaks HTTP/2."""


@pytest.mark.parametrize(
    ("pieces", "pause"),
    [([HTML], 0.0), ([SETTINGS, *([b"\0"] * 60)], 1.0)],
    ids=["html", "fn_slowloris"],
)
def test_fn_garbage_something_that_is_no_function_does_not_hold_up_others(play, pieces, pause):
    """HTML where gRPC should be, or a byte a second: others go on, and after the deadline it is told."""

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await still_works(s)
        xr = await things.until("mine", failing('cannot run Composition pipeline step "tell"'))
        assert await things.composed(xr) == {}

    with speaking(pieces, pause) as address:
        play(lambda s: scenario(s, address))


def test_fn_oversize_an_answer_beyond_the_limit_is_refused(play):
    """The limit is gRPC's own, 4 MiB."""

    def function(request):
        data = {"big": "x" * (5 << 20)} if spec_of(request).get("mode") == "big" else {}
        return desiring(request, one=config_map(data=data))

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", {"mode": "big"})
        xr = await things.until("mine", failing("received message larger than max"))
        assert await things.composed(xr) == {}
        await things.apply("mine", {"mode": "small"})
        await things.until("mine", SYNCED, READY)

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_oversize_a_flood_of_results_and_conditions_is_capped(play):
    def function(request):
        results = tuple(Result(SEVERITY_NORMAL, f"message {n}") for n in range(10_000))
        conditions = tuple(Condition(f"Flood{n}", STATUS_TRUE, "Flood") for n in range(10_000))
        made = desiring(request, one=config_map())
        return made._replace(results=results, conditions=conditions)

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert len(xr["status"]["conditions"]) <= 200
        await still_works(s)
        assert len(await s.events(xr)) <= 200

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_nondeterministic_new_names_at_every_call_are_bounded(play):
    """What is no longer desired goes, and the XR is slowed down: it cannot run away."""
    numbers = itertools.count()

    def function(request):
        return desiring(request, **{f"random-{next(numbers)}": config_map()})

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", lambda xr: things.references(xr))
        # It makes another one each time it is woken by what it made, until it is slowed down.
        xr = await things.until("mine", condition("Responsive", "False", "WatchCircuitOpen"))
        made = next(numbers)

        async def few():
            return len(await things.composed(xr)) <= 3

        await s.eventually(few)
        assert next(numbers) - made < 20
        assert made < 1000
        await still_works(s)
        await things.delete("mine")

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_requirements_loop_ever_new_requirements_end_after_five_rounds(play):
    calls = []

    def function(request):
        calls.append(1)
        wanted = ResourceSelector("v1", "ConfigMap", match_name=f"none-{len(calls)}", namespace="default")
        return desiring(request, one=config_map())._replace(requirements=Requirements({"a": wanted}))

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        told = "requirements didn't stabilize after the maximum number of iterations (5)"
        xr = await things.until("mine", failing(told))
        assert await things.composed(xr) == {}
        await still_works(s)

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_drop_desired_a_fatal_result_deletes_nothing_and_an_empty_answer_deletes_all(play):
    def function(request):
        mode = spec_of(request).get("mode")
        if mode == "fatal":
            return Response(State(), (Result(SEVERITY_FATAL, "sorry"),))
        return Response(State()) if mode == "empty" else desiring(request, one=config_map())

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        await things.apply("mine", {"mode": "fatal"})
        await things.until("mine", failing("sorry"))
        assert set(await things.composed(xr)) == {"one"}
        await things.apply("mine", {"mode": "empty"})
        await things.until("mine", SYNCED, lambda xr: things.references(xr) == [])
        await s.eventually(lambda: _none(things, xr))

    with served(function) as address:
        play(lambda s: scenario(s, address))


async def _none(things, xr):
    return not await things.composed(xr)


def controlled_by_boss(uid):
    """A reference to a controller."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "boss", "uid": uid, "controller": True}


def test_fn_steal_a_function_cannot_take_what_another_controls(play):
    """Neither by its name, nor by claiming to be its owner's."""

    def function(request):
        spec = spec_of(request)
        metadata = {"name": "precious"}
        if spec.get("mode") == "as its owner":
            metadata["ownerReferences"] = [
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "boss",
                    "uid": spec["size"],
                    "controller": True,
                }
            ]
        return desiring(request, one=config_map(metadata=metadata, data={"stolen": "yes"}))

    async def scenario(s, address):
        things = await Things.defined(s)
        boss = await s.client.create(CONFIG_MAP, {"metadata": {"name": "boss", "namespace": s.id}})
        uid = boss["metadata"]["uid"]
        precious = {"name": "precious", "namespace": s.id, "ownerReferences": [controlled_by_boss(uid)]}
        before = await s.client.create(CONFIG_MAP, {"metadata": precious, "data": {"mine": "yes"}})
        await things.compose(await calling(s, address))
        await things.apply("by-name", {"size": uid})
        await things.until("by-name", failing("Unsynced resources: one"))
        await things.apply("as-owner", {"size": uid, "mode": "as its owner"})
        await things.until("as-owner", failing("is already controlled by ConfigMap boss"))
        assert await s.client.get(CONFIG_MAP, "precious", s.id) == before

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_metadata_abuse_the_engines_metadata_is_not_a_functions(play):
    def function(request):
        metadata = {
            "namespace": "kube-system",
            "labels": {"crossplane.io/composite": "somebody-else"},
            "annotations": {"crossplane.io/composition-resource-name": "something-else"},
            "deletionTimestamp": "2020-01-01T00:00:00Z",
            "managedFields": [],
            "resourceVersion": "1",
            "uid": "00000000-0000-0000-0000-000000000000",
            "generation": 77,
        }
        composite = {"spec": {"size": "stolen"}, "metadata": {"labels": {"a": "b"}, "finalizers": ["x.y/z"]}}
        return Response(
            State(
                Resource(composite),
                {"one": Resource(config_map(metadata=metadata), ready=READY_TRUE)},
            )
        )

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", {"size": "mine"})

        async def decided():
            xr = await things.get("mine")
            return xr if SYNCED({"status": {}, **xr}) or FAILED({"status": {}, **xr}) else None

        xr = await s.eventually(decided)
        assert xr["spec"]["size"] == "mine"
        assert xr["metadata"]["labels"] == {"crossplane.io/composite": "mine"}
        assert xr["metadata"]["finalizers"] == ["composite.apiextensions.crossplane.io"]
        for name, made in (await things.composed(xr)).items():
            assert name == "one"
            assert made["metadata"]["namespace"] == s.id
            assert made["metadata"]["labels"]["crossplane.io/composite"] == "mine"
            assert "deletionTimestamp" not in made["metadata"]

    with served(function) as address:
        play(lambda s: scenario(s, address))


def test_fn_metadata_abuse_a_namespaced_xr_composes_nothing_that_is_cluster_scoped(play):
    """Not even if the function gives it the XR's namespace."""

    def function(request):
        home = request.observed.composite.object["metadata"]["namespace"]
        mode = spec_of(request)["mode"]
        metadata = {"name": f"{home}-wide", **({"namespace": home} if mode == "disguised" else {})}
        return desiring(
            request, one={"apiVersion": spec_of(request)["size"], "kind": "Wide", "metadata": metadata}
        )

    async def scenario(s, address):
        wide = await custom_kind(s, "Wide", namespaced=False)
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        for mode in ("plain", "disguised"):
            await things.apply(mode, {"mode": mode, "size": wide.api_version})
            await things.until(mode, FAILED)
        assert await s.client.get(wide, f"{s.id}-wide") is None

    with served(function) as address:
        play(lambda s: scenario(s, address))
