"""Container functions of Compositions: images that read a FunctionIO and write one, here or by a runner."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from concurrent import futures

import grpc
import pytest

from crossply.cli.function.container_runner_server import socket_target
from crossply.compose.function_messages import READY_TRUE, Request, Resource, State
from crossply.containers.image_store import Store
from crossply.containers.settings import Settings
from crossply.errors import CrossplyError
from crossply.functions.composition_container_functions import ContainerFunctions
from crossply.functions.containerized_function_runner_client import FIRST_METHOD, METHOD, is_our_own
from crossply.functions.containerized_function_runner_server import RunnerServer, RunnerSettings
from crossply.functions.one_shot_image_run import ImageRuns
from crossply.functions.proto.v1alpha1 import run_function_pb2 as messages
from crossply.kinds.composition import parse_composition
from tests.support import registry as peers
from tests.support.function_servers import CROSSPLY
from tests.support.script_images import needs_containers, script_image

pytestmark = needs_containers

XR = {"apiVersion": "acme.test/v1", "kind": "XThing", "metadata": {"name": "x"}, "spec": {"size": 3.0}}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
THING = {"apiVersion": "acme.test/v1", "kind": "Thing", "spec": {"color": "red"}}
REQUEST = Request(
    State(Resource(XR), {"thing": Resource({**THING, "status": READY})}),
    State(None, {"thing": Resource(THING)}),
)
SCRIPTS = {
    "paint": "busybox sed 's/color: red/color: blue/'",
    "fail": "busybox cat >/dev/null; echo first >&2; echo 'no such color' >&2; exit 3",
    "babble": "echo not a FunctionIO",
    "flood": "busybox yes",
    "sleep": "busybox sleep 60",
    "hog": "busybox cat >/dev/null; exec busybox dd if=/dev/zero of=/dev/null bs=400M count=1",
    "whoami": (
        "set -- $(busybox sed -n 's/ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev | busybox sort)\n"
        "echo 'apiVersion: apiextensions.crossplane.io/v1alpha1'\necho 'kind: FunctionIO'\n"
        'echo "results: [{severity: Normal, message: $(busybox id -u) $*}]"'
    ),
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        for name, script in SCRIPTS.items():
            peers.pushed(address, script_image(script), f"{name}:v1")
        yield address


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(str(tmp_path_factory.mktemp("store")))


@pytest.fixture(scope="module")
def functions(store):
    return ContainerFunctions(store)


def step(image, **container):
    entry = {"name": "painter", "type": "Container", "container": {"image": image, **container}}
    spec = {"compositeTypeRef": {"apiVersion": "acme.test/v1", "kind": "XThing"}, "functions": [entry]}
    return parse_composition({"metadata": {"name": "c"}, "spec": spec}).steps[0]


def refusal(call):
    with pytest.raises(CrossplyError) as refused:
        call()
    return str(refused.value)


def test_an_image_is_pulled_and_run_and_its_answer_counts(registry, functions):
    resource = functions.open(step(f"{registry}/paint:v1"))(REQUEST, 30.0).desired.resources["thing"]
    assert resource.object["spec"] == {"color": "blue"}
    assert resource.ready == READY_TRUE


def test_an_image_that_changes_observed_resources_gives_a_warning(registry, functions):
    [result] = functions.open(step(f"{registry}/paint:v1"))(REQUEST, 30.0).results
    assert result.message == (
        'function "painter" changed the observed state, which is ignored: resources.thing.resource.spec.color'
    )


@pytest.mark.parametrize(
    ("image", "settings", "expected"),
    [
        ("fail", {}, "its container ended with exit status 3: first\nno such color"),
        ("babble", {}, "cannot read the FunctionIO that it wrote: must be an object, not a string"),
        ("flood", {}, "bytes"),
        ("sleep", {"timeout": "1s"}, "it took longer than 1 s"),
        ("hog", {"resources": {"limits": {"memory": "32Mi"}}}, "it exceeded its 32 MiB"),
        ("absent", {}, "absent"),
        ("paint", {"imagePullPolicy": "Never", "tag": "v2"}, "its pull policy is Never"),
        ("paint", {"resources": {"limits": {"memory": "lots"}}}, "its memory limit 'lots' is not a quantity"),
        ("paint", {"resources": {"limits": {"cpu": "-1"}}}, "its cpu limit must be more than nothing"),
    ],
    ids=[
        "fails",
        "writes prose",
        "writes for ever",
        "sleeps",
        "wants memory",
        "is not there",
        "may not be pulled",
        "has odd limits",
        "has negative limits",
    ],
)
def test_an_error_names_step_image_and_reason(registry, functions, image, settings, expected):
    settings = dict(settings)
    name = f"{registry}/{image}:{settings.pop('tag', 'v1')}"
    message = refusal(lambda: functions.open(step(name, **settings))(REQUEST, 30.0))
    assert message.startswith(f'cannot run function "painter": image "{name}": ')
    assert expected in message


def test_a_function_runs_as_an_unprivileged_user_without_a_network(registry, functions):
    (alone,) = functions.open(step(f"{registry}/whoami:v1"))(REQUEST, 30.0).results
    assert alone.message == "2000 lo"


def test_a_function_may_use_the_network_of_the_runner(registry, functions):
    function_step = step(f"{registry}/whoami:v1", network={"policy": "Runner"})
    (shared,) = functions.open(function_step)(REQUEST, 30.0).results
    assert shared.message.split()[1:] == sorted(os.listdir("/sys/class/net"))


def test_a_private_image_is_pulled_with_the_secret_that_the_function_names(tmp_path):
    pem = peers.certificate(tmp_path)
    trust = peers.Trust(authority=pem)
    with peers.docker_registry(tmp_path, *peers.guarded(tmp_path, tmp_path, "ada:secret")) as address:
        peers.pushed(address, script_image(SCRIPTS["paint"]), "paint:v1", trust, "ada:secret")
        functions = ContainerFunctions(Store(str(tmp_path / "store")), trust=trust)
        function_step = step(
            f"{address}/paint:v1", imagePullSecrets=[{"name": "login", "namespace": "default"}]
        )
        assert [credential.secret_name for credential in function_step.credentials] == ["login"]
        login = json.dumps(peers.logins(address, "ada:secret").content).encode()
        request = Request(
            REQUEST.observed, REQUEST.desired, credentials={"default/login": {".dockerconfigjson": login}}
        )
        message = refusal(lambda: functions.open(function_step)(REQUEST, 30.0))
        assert "authentication required" in message, "without what is in the secret"
        assert functions.open(function_step)(request, 30.0).desired.resources["thing"].object["spec"] == {
            "color": "blue"
        }


@pytest.fixture(scope="module")
def runner(store, tmp_path_factory):
    """A runner in this process; its endpoint."""
    endpoint = f"unix:{tmp_path_factory.mktemp('runner')}/runner.sock"
    settings = RunnerSettings(endpoint, longest=2.0, largest=1 << 20, shares_network=False)
    server = RunnerServer(ImageRuns(store, Settings(largest_output=1 << 20)), settings)
    yield endpoint
    server.stop()


def test_a_runner_runs_images_for_others(registry, runner, functions):
    function_step = step(f"{registry}/paint:v1", runner={"endpoint": runner})
    assert functions.open(function_step)(REQUEST, 30.0).desired.resources["thing"].object["spec"] == {
        "color": "blue"
    }


@pytest.mark.parametrize(
    ("image", "settings", "expected"),
    [
        ("fail", {}, "ended with exit status 3: first\nno such color"),
        ("sleep", {"timeout": "60s"}, "it took longer than"),
        ("hog", {"resources": {"limits": {"memory": "32Mi"}}}, "it exceeded its 32 MiB"),
        ("flood", {}, "bytes"),
        ("absent", {}, "absent"),
        ("paint", {"network": "Runner"}, "this runner does not share its network"),
    ],
    ids=[
        "fails",
        "outlasts the runner",
        "wants memory",
        "writes for ever",
        "is not there",
        "wants the network",
    ],
)
def test_a_refusal_of_the_runner_is_reported(registry, runner, functions, image, settings, expected):
    function_step = step(f"{registry}/{image}:v1", runner={"endpoint": runner}, **settings)
    message = refusal(lambda: functions.open(function_step)(REQUEST, 30.0))
    assert f"the runner at {runner} says: " in message
    assert expected in message


def test_a_runner_that_is_not_there_is_named(registry, functions, tmp_path):
    endpoint = f"unix:{tmp_path}/nobody.sock"
    message = refusal(lambda: functions.open(step("image", runner={"endpoint": endpoint}))(REQUEST, 5.0))
    assert message.endswith(f"no runner answers at {endpoint}")


class Listener(grpc.GenericRpcHandler):
    """A fake runner that records requests, and runs nothing."""

    def __init__(self):
        self.requests = []

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.answer)

    def answer(self, data, context):
        self.requests.append(messages.RunFunctionRequest.FromString(data))
        context.abort(grpc.StatusCode.INTERNAL, "heard")


def test_only_pull_secrets_are_sent_to_a_runner_that_a_composition_names(store, tmp_path):
    """The author of a Composition does not get the logins of the control plane."""
    listener, endpoint = Listener(), f"unix:{tmp_path}/listener.sock"
    server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[listener])
    server.add_insecure_port(endpoint)
    server.start()
    functions = ContainerFunctions(store, peers.logins("registry.example.org", "operator:secret"))
    function_step = step("registry.example.org/private:v1", runner={"endpoint": endpoint})
    named = json.dumps(peers.logins("registry.example.org", "ada:named").content).encode()
    request = Request(REQUEST.observed, REQUEST.desired, credentials={"pull": {".dockerconfigjson": named}})
    try:
        for sent_request in (REQUEST, request):
            refusal(lambda sent_request=sent_request: functions.open(function_step)(sent_request, 10.0))
    finally:
        server.stop(None)
    sent = [request_message.image_pull_config.auth for request_message in listener.requests]
    assert [(auth.username, auth.password) for auth in sent] == [("", ""), ("ada", "named")]


@contextlib.contextmanager
def line(endpoint, method=METHOD):
    with grpc.insecure_channel(endpoint) as channel:
        yield channel.unary_unary(method)


def code_of(send, data):
    with pytest.raises(grpc.RpcError) as refused:
        send(data, timeout=10)
    return refused.value.code().name


def test_a_runner_refuses_oversized_and_invalid_requests(runner):
    with line(runner) as send:
        assert code_of(send, b"x" * (2 << 20)) == "RESOURCE_EXHAUSTED"
        assert code_of(send, b"\xff\xff") == "INVALID_ARGUMENT"
        assert (
            code_of(send, messages.RunFunctionRequest(image="???").SerializeToString()) == "INVALID_ARGUMENT"
        )
        bad = messages.ImagePullConfig(auth=messages.ImagePullAuth(auth="%"))
        request = messages.RunFunctionRequest(image="a.test/b", image_pull_config=bad)
        assert code_of(send, request.SerializeToString()) == "INVALID_ARGUMENT"


def test_a_runner_answers_by_the_name_that_the_service_had_first(registry, runner):
    request = messages.RunFunctionRequest(image=f"{registry}/babble:v1")
    with line(runner, FIRST_METHOD) as send:
        reply = send(request.SerializeToString(), timeout=30)
    assert messages.RunFunctionResponse.FromString(reply).output == b"not a FunctionIO\n"


def test_the_command_serves_at_a_socket_for_this_user_only(registry, store, functions, tmp_path):
    path = tmp_path / "runner.sock"
    command = [CROSSPLY, "function", "runner", "--address", str(path), "--store", store.directory]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == f"crossply: running images for others at unix:{path}\n"
        assert path.stat().st_mode & 0o077 == 0
        function_step = step(f"{registry}/paint:v1", runner={"endpoint": f"unix://{path}"})
        assert functions.open(function_step)(REQUEST, 30.0).desired.resources["thing"].object["spec"] == {
            "color": "blue"
        }
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("@crossplane/fn/default.sock", "unix-abstract:crossplane/fn/default.sock"),
        ("unix:///@crossplane/fn/default.sock", "unix-abstract:crossplane/fn/default.sock"),
        ("unix:@crossplane/fn/default.sock", "unix-abstract:crossplane/fn/default.sock"),
        ("unix-abstract:crossplane/fn/default.sock", "unix-abstract:crossplane/fn/default.sock"),
        ("/run/fn.sock", "unix:/run/fn.sock"),
        ("unix:/run/fn.sock", "unix:/run/fn.sock"),
        ("unix:///run/fn.sock", "unix:/run/fn.sock"),
        ("unix:fn.sock", f"unix:{os.getcwd()}/fn.sock"),
    ],
)
def test_a_runner_listens_where_compositions_call_it(address, target):
    assert socket_target(address) == target


def test_a_runner_on_the_network_is_refused(tmp_path):
    command = [CROSSPLY, "function", "runner", "--network", "tcp", "--address", "0.0.0.0:9000"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1
    assert "every client that connects could run images" in refused.stderr


def test_only_a_listener_of_our_own_user_counts_as_the_runner_by_default():
    name = f"crossply-test-{os.getpid()}"
    assert not is_our_own(f"unix-abstract:{name}"), "nobody listens"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        assert is_our_own(f"unix-abstract:{name}")
