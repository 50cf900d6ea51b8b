"""Functions in containers: how soon the first reply is there, and what a call costs beside a bare echo."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc  # noqa: E402
from tests.support.container_images import BUILT, program, python_image  # noqa: E402
from tests.support.function_servers import free_port, make_certificates, started  # noqa: E402
from tests.support.images import archive, image, member  # noqa: E402
from tests.support.registry import PROGRAM as REGISTRY  # noqa: E402
from tests.support.registry import docker_registry, pushed  # noqa: E402

from crossply.compose.function_messages import Request, Resource, State  # noqa: E402
from crossply.containers.failures import ContainerError  # noqa: E402
from crossply.containers.image_pull import pull  # noqa: E402
from crossply.containers.image_store import Store, StoredImage  # noqa: E402
from crossply.containers.launcher_client import close_launcher, current_launcher  # noqa: E402
from crossply.containers.oci_runtime import find_engine  # noqa: E402
from crossply.containers.run_to_completion import run_once  # noqa: E402
from crossply.containers.served_container import ServedContainer  # noqa: E402
from crossply.containers.settings import ENGINES, Settings  # noqa: E402
from crossply.functions.binding import bind_builtin  # noqa: E402
from crossply.functions.local_process import LocalProcess  # noqa: E402
from crossply.functions.remote import METHOD, Remote  # noqa: E402
from crossply.xpkg.image import Image, digest  # noqa: E402

CALLS, THREADS, SPELLS = 300, 4, 5
BALLAST = 56 << 20
RESOURCE = {"apiVersion": "v1", "kind": "Thing", "spec": {"text": "x" * 2000}}
REQUEST = Request(State(Resource(RESOURCE), {f"r{n}": Resource(RESOURCE) for n in range(3)}))
ECHO = """
import os, sys, time
from concurrent import futures
import grpc
class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda data, context: data)
server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Echo()])
directory = os.environ["TLS_SERVER_CERTS_DIR"]
names = ("ca.crt", "tls.crt", "tls.key")
ca, cert, key = (open(os.path.join(directory, name), "rb").read() for name in names)
credentials = grpc.ssl_server_credentials([(key, cert)], ca, require_client_auth=True)
server.add_secure_port(sys.argv[1], credentials)
server.start()
server.wait_for_termination()
"""

Call = Callable[[], object]


def main() -> None:
    engines = [name for name in ENGINES if _installed(name)]
    if not engines:
        print("   crun and runc are not installed: nothing measured")
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        directory = pathlib.Path(scratch)
        store = Store(str(directory / "store"))
        current_launcher()
        warm_calls(directory, store, engines[0])
        for engine in engines:
            to_completion(store, engine)
            cold_start(directory, engine)
        close_launcher()


def _installed(name: str) -> bool:
    try:
        find_engine(name, os.environ)
    except ContainerError:
        return False
    return True


def warm_calls(directory: pathlib.Path, store: Store, engine: str) -> None:
    make_certificates(directory)
    request = b"x" * 8000
    with contextlib.ExitStack() as stack:
        bare = stack.enter_context(echo_process(directory))
        contained = stack.enter_context(echo_container(directory, store, engine))
        in_process = bind_builtin("auto-ready", "f")
        process = stack.enter_context(contextlib.closing(local_process()))
        remote = stack.enter_context(remote_process(directory))
        calls: dict[str, Call] = {
            "bare gRPC echo, mTLS": lambda: bare(request),
            f"the same echo in a container ({engine})": lambda: contained(request),
            "in process (auto-ready)": lambda: in_process(REQUEST, 10),
            "process (auto-ready)": lambda: process(REQUEST, 10),
            "remote, mTLS (auto-ready)": lambda: remote(REQUEST, 10),
        }
        report(calls)


def report(calls: dict[str, Call]) -> None:
    """Measure all of them in turn, several times: the machine is not the same all the time."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    rates: dict[str, float] = dict.fromkeys(calls, 0.0)
    for _ in range(SPELLS):
        for name, call in calls.items():
            times[name] += sequential(call)
            rates[name] = max(rates[name], concurrent(call))
    yardstick = statistics.median(next(iter(times.values())))
    print(f"   {'a warm call':44} {'p50 ms':>8} {'p99 ms':>8} {'calls/s':>9} {'x echo':>7}")
    for name, measured in times.items():
        middle, late = statistics.median(measured), sorted(measured)[int(len(measured) * 0.99)]
        ratio = middle / yardstick
        print(f"   {name:44} {middle * 1e3:8.3f} {late * 1e3:8.3f} {rates[name]:9.0f} {ratio:7.2f}")


def sequential(call: Call) -> list[float]:
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def concurrent(call: Call) -> float:
    def work() -> None:
        for _ in range(CALLS // THREADS):
            call()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return CALLS / (time.perf_counter() - start)


@contextlib.contextmanager
def echo_process(directory: pathlib.Path) -> Iterator[Callable[[bytes], bytes]]:
    address = f"127.0.0.1:{free_port()}"
    environ = {"TLS_SERVER_CERTS_DIR": str(directory / "server")}
    with started([sys.executable, "-c", ECHO, address], address, environ), caller(directory, address) as call:
        yield call


@contextlib.contextmanager
def echo_container(directory: pathlib.Path, store: Store, engine: str) -> Iterator[Callable[[bytes], bytes]]:
    settings = Settings(engine=engine, tls_certificates=str(directory / "server"))
    container = ServedContainer("echo", echo_image(store), settings)
    with contextlib.closing(container), caller(directory, container.target(60)) as call:
        yield call


def echo_image(store: Store) -> StoredImage:
    """This Python with gRPC, and the echo."""
    site = pathlib.Path(grpc.__file__).parents[1]
    files = [
        member(f"site/{path.relative_to(site)}", path.read_bytes(), mode=0o755)
        for name in ("grpc", "typing_extensions.py")
        for path in ([site / name] if (site / name).is_file() else (site / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    base, own = python_image(), image(archive(files))
    inner = {
        "Entrypoint": ["/usr/bin/python3", "-B", "-c", ECHO, "0.0.0.0:9443"],
        "Env": ["PYTHONPATH=/site", "PATH=/usr/bin"],
        "User": "65532",
    }
    rootfs = {"type": "layers", "diff_ids": [*base.diff_ids, *own.diff_ids]}
    echo = Image({**base.config, "config": inner, "rootfs": rootfs}, (*base.layers, *own.layers))
    return store.add(echo, digest(echo))


@contextlib.contextmanager
def caller(directory: pathlib.Path, target: str) -> Iterator[Callable[[bytes], bytes]]:
    parts = [(directory / "client" / name).read_bytes() for name in ("ca.crt", "tls.key", "tls.crt")]
    options = [("grpc.ssl_target_name_override", "localhost"), ("grpc.enable_http_proxy", 0)]
    with grpc.secure_channel(target, grpc.ssl_channel_credentials(*parts), options) as channel:
        send = channel.unary_unary(METHOD)
        yield lambda data: send(data, timeout=10, wait_for_ready=True)


def local_process() -> LocalProcess:
    crossply = os.path.join(os.path.dirname(sys.executable), "crossply")
    return LocalProcess("f", f"{crossply} function serve auto-ready --insecure --address {{address}}")


@contextlib.contextmanager
def remote_process(directory: pathlib.Path) -> Iterator[Remote]:
    crossply = os.path.join(os.path.dirname(sys.executable), "crossply")
    address = f"127.0.0.1:{free_port()}"
    command = [crossply, "function", "serve", "auto-ready", f"--address={address}"]
    remote = Remote("f", address, str(directory / "client"))
    with started([*command, f"--tls-certs-dir={directory / 'server'}"], address), contextlib.closing(remote):
        yield remote


def go_image(ballast: int = 0) -> Image:
    files = [member("function", program(), mode=0o755)]
    files += [member(f"ballast/{n}", os.urandom(1 << 18)) for n in range(ballast >> 18)]
    built = image(archive(files))
    return built._replace(config={**built.config, "config": {"Entrypoint": ["/function"], "User": "65532"}})


def to_completion(store: Store, engine: str) -> None:
    built = go_image()
    stored = store.add(built, digest(built))
    settings = Settings(engine=engine, arguments=("echo",))
    alone, contained = [], []
    for _ in range(30):
        alone.append(timed(lambda: subprocess.run([BUILT, "echo"], input=b"x", stdout=subprocess.DEVNULL)))
        contained.append(timed(lambda: run_once(stored, b"x", settings)))
    own, contained_ms = (statistics.median(seconds) * 1e3 for seconds in (alone, contained))
    print(
        f"   to completion ({engine}): {contained_ms:.1f} ms, "
        f"alone {own:.1f} ms, {contained_ms - own:.1f} ms above"
    )


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cold_start(directory: pathlib.Path, engine: str) -> None:
    if REGISTRY is None:
        print("   cold start: docker-registry is not installed")
        return
    place = directory / f"registry-{engine}"
    place.mkdir()
    with docker_registry(place) as address:
        reference = pushed(address, go_image(BALLAST), "acme/function:v1")
        places = [directory / f"cold-{engine}-{number}" for number in range(3)]
        steps = [one_cold_start(str(reference), place, engine) for place in places]
    pull, start, reply = (statistics.median(column) for column in zip(*steps, strict=True))
    size = (BALLAST + BUILT.stat().st_size) >> 20
    print(
        f"   cold start of {size} MB ({engine}): {pull + start + reply:.2f} s: "
        f"pull and unpack {pull:.2f}, start {start:.3f}, first reply {reply:.3f}"
    )


def one_cold_start(name: str, directory: pathlib.Path, engine: str) -> list[float]:
    start = time.perf_counter()
    stored = asyncio.run(pull(name, Store(str(directory))))
    pulled = time.perf_counter()
    container = ServedContainer("f", stored, Settings(engine=engine))
    with contextlib.closing(container), contextlib.closing(Remote("f", container.target(30))) as remote:
        up = time.perf_counter()
        remote(REQUEST, 10)
        answered = time.perf_counter()
    shutil.rmtree(directory)
    return [pulled - start, up - pulled, answered - up]


if __name__ == "__main__":
    main()
