"""Calls of function revisions: over mutual TLS, at our own endpoints, and redirected when they change."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from datetime import UTC, datetime

import pytest

from crossply.certificates import FOR_CLIENTS, FOR_SERVERS
from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.control.runtimes.certificate_authority import (
    Lifetimes,
    issued,
    purpose_for,
    read_authorities,
    renew_authority,
)
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.functions.failures import FunctionCrashed, FunctionError, FunctionNotBound, FunctionNotRunning
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.functions.server import FunctionServer, ServerSettings
from crossply.kinds.composition import Step, parse_composition
from tests.support.control.function_revisions import revision
from tests.support.ports import free_port

NOW = datetime.now(UTC)
STEP = Step("s", "f")


def authority():
    """A certificate authority."""
    authorities = read_authorities(renew_authority({}, NOW, Lifetimes()), NOW)
    assert authorities is not None
    return authorities


@contextlib.contextmanager
def shown(by, usage=FOR_CLIENTS):
    """A directory with a certificate by an authority, which can be replaced."""
    files = PrivateFiles()
    files.replace(signed(by, usage))
    try:
        yield files
    finally:
        files.remove()


def signed(by, usage=FOR_CLIENTS):
    return issued(purpose_for(usage, ("localhost",)), by, NOW, Lifetimes())


def saying(name):
    """A function that returns its own name."""
    return lambda request: Response(State(Resource({"by": name})))


@contextlib.contextmanager
def serving(by, name="it"):
    """A function that only talks to whom an authority vouches for; its endpoint."""
    with shown(by, FOR_SERVERS) as files:
        server = FunctionServer(
            "test", saying(name), ServerSettings("127.0.0.1:0", certificates=files.directory)
        )
        try:
            yield f"dns:///localhost:{server.port}"
        finally:
            server.stop()


@pytest.fixture
def functions():
    functions = PipelineFunctions(timeout=5.0)
    yield functions
    functions.close()


def called(functions, step=STEP):
    """The revision that answers a step."""
    answer = asyncio.run(functions.call(step, Request(State())))
    return answer.response.desired.composite.object["by"]


def test_an_endpoint_is_called_with_mutual_tls(functions):
    own_authority = authority()
    with serving(own_authority) as endpoint, shown(own_authority) as files:
        functions.factory.use_certificates(files.directory)
        functions.put_revision(revision(1, endpoint=endpoint))
        assert called(functions) == "it"


def test_without_a_certificate_nothing_is_sent(functions):
    functions.put_revision(revision(1))
    with pytest.raises(FunctionNotBound, match="there is no certificate to show"):
        called(functions)


def test_a_caller_with_a_certificate_of_another_authority_is_refused():
    functions = PipelineFunctions(timeout=1.0)
    with serving(authority()) as endpoint, shown(authority()) as files:
        functions.factory.use_certificates(files.directory)
        functions.put_revision(revision(1, endpoint=endpoint))
        with pytest.raises(FunctionError):
            called(functions)
    functions.close()


def test_a_new_endpoint_is_called_and_every_step_gets_the_revision_it_selects(functions):
    own_authority = authority()
    with contextlib.ExitStack() as stack:
        one, two, three = (
            stack.enter_context(serving(own_authority, name)) for name in ("one", "two", "three")
        )
        functions.factory.use_certificates(stack.enter_context(shown(own_authority)).directory)
        functions.put_revision(revision(1, endpoint=one, channel="stable"))
        functions.put_revision(revision(2, endpoint=two, channel="alpha"))
        selects = Step("s", "f", function_revision_selector={"channel": "stable"})
        assert [called(functions), called(functions, selects)] == ["two", "one"]
        functions.put_revision(revision(1, endpoint=three, channel="stable"))
        assert [called(functions), called(functions, selects)] == ["two", "three"]


def with_runtime(number, endpoint, status, message=""):
    """A revision with a health condition."""
    known = revision(number, endpoint=endpoint)
    condition = {"type": "RuntimeHealthy", "status": status, "reason": "r", "message": message}
    return {**known, "status": {**known["status"], "conditions": [condition]}}


def silent_endpoint():
    """An address without a listener."""
    return f"dns:///localhost:{free_port()}"


def test_a_revision_that_does_not_run_is_not_waited_for_until_the_time_of_a_call_is_over():
    functions = PipelineFunctions()
    with shown(authority()) as files:
        functions.factory.use_certificates(files.directory)
        functions.put_revision(with_runtime(1, silent_endpoint(), "False", "no Pod is ready"))
        with pytest.raises(FunctionNotRunning) as failure:
            called(functions)
        assert str(failure.value) == (
            'cannot run Function "f": its revision f-1 is not running: no Pod is ready; '
            "see kubectl describe functionrevision f-1"
        )
    functions.close()


def test_callers_of_an_unavailable_revision_are_enqueued_once_when_it_runs():
    functions, queue = PipelineFunctions(), []
    functions.register_caller("xr", (STEP,), lambda: queue.append("xr"))
    endpoint = silent_endpoint()
    with shown(authority()) as files:
        functions.factory.use_certificates(files.directory)
        functions.put_revision(with_runtime(1, endpoint, "False"))
        with pytest.raises(FunctionNotRunning):
            called(functions)
        queue.clear()
        functions.put_revision(with_runtime(1, endpoint, "True"))
        functions.put_revision(with_runtime(1, endpoint, "True"))
        assert queue == ["xr"]
    functions.close()


def test_a_revision_that_answers_is_called_whatever_its_condition(functions):
    own_authority = authority()
    with serving(own_authority) as endpoint, shown(own_authority) as files:
        functions.factory.use_certificates(files.directory)
        functions.put_revision(with_runtime(1, endpoint, "False", "not yet"))
        assert called(functions) == "it"


def test_the_pipeline_check_is_notified_only_of_relevant_changes(functions):
    changed = []
    functions.subscribe(changed.append)
    for change, count in (
        (revision(1, capabilities=["composition"]), 1),
        (revision(1, capabilities=["composition"], endpoint="dns:///elsewhere:1"), 1),
        (revision(1, capabilities=["operation"]), 2),
        (revision(1, capabilities=["operation"], active=False), 3),
        (revision(1, capabilities=["composition"], active=False), 3),
    ):
        functions.put_revision(change)
        assert changed == ["f"] * count


def test_a_function_that_is_a_command_is_run_only_where_allowed(functions, tmp_path):
    marker = tmp_path / "told"
    script = f"sh -c 'touch {marker}' {{address}}"
    annotations = {"crossply.dev/runtime": "process", "crossply.dev/command": script}
    command = revision(1, endpoint="process:///f-1")
    command["metadata"]["annotations"] = annotations
    functions.put_revision(command)
    with pytest.raises(HostAccessRefused, match=r'annotation "crossply\.dev/command" names a command'):
        called(functions)
    assert not marker.exists()
    allowed = PipelineFunctions(factory=RunnerFactory(check_host_access=HostAccess(commands=True).check))
    allowed.put_revision(command)
    with pytest.raises(FunctionCrashed):
        called(allowed)
    allowed.close()
    assert marker.exists()


class Opened:
    """A runner of a test, which notes what becomes of it."""

    def __init__(self, endpoint, noted):
        self.endpoint, self.noted = endpoint, noted

    def __call__(self, request, timeout):
        return saying(self.endpoint.revision)(request)

    def close(self):
        self.noted.append(self.endpoint.revision)


def test_an_endpoint_of_our_own_is_opened_once_and_closed_when_its_revision_rests(functions):
    opened, closed = [], []

    def opener(endpoint):
        opened.append(endpoint.revision)
        return Opened(endpoint, closed)

    functions.factory.register_scheme("container", opener)
    functions.put_revision(revision(1, endpoint="container:///f-1"))
    assert [called(functions), called(functions)] == ["f-1", "f-1"]
    functions.put_revision(revision(2, endpoint="container:///f-2"))
    assert called(functions) == "f-2"
    assert closed == [], "somebody may select it"
    functions.put_revision(revision(1, endpoint="container:///f-1", active=False))
    functions.close()
    wait_until(lambda: sorted(closed) == ["f-1", "f-2"])
    assert opened == ["f-1", "f-2"]


def wait_until(check):
    """Wait for what happens beside us."""
    passed = threading.Event()
    for _ in range(500):
        if check():
            return
        passed.wait(0.01)
    raise AssertionError("it never came to be")


[CONTAINER] = parse_composition(
    {
        "metadata": {"name": "c"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "Thing"},
            "functions": [{"name": "c", "type": "Container", "container": {"image": "example.org/c"}}],
        },
    }
).steps


def test_a_step_that_names_an_image_is_run_beside_the_event_loop():
    threads = []

    def run(request, timeout):
        threads.append(threading.current_thread())
        return saying("example.org/c")(request)

    functions = PipelineFunctions(factory=RunnerFactory(open_container=lambda step: run))
    assert called(functions, CONTAINER) == "example.org/c"
    functions.close()
    assert threads != [threading.main_thread()]


def test_a_step_that_names_an_image_is_reported_where_there_is_no_runtime(functions):
    with pytest.raises(FunctionNotBound, match="there is nothing here that runs containers"):
        called(functions, CONTAINER)
