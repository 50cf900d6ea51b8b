"""The programs that the suite runs: kubectl, Python clients in an environment of their own, a Go program."""

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import pathlib
import subprocess
import sys
import venv

import pytest
import yaml

from tests.support.programs import find

ROOT = pathlib.Path(__file__).parents[3]
LOUD = "CLIENTS NOT TRIED: "
CACHE = pathlib.Path(os.environ.get("CROSSPLY_CLIENTS_CACHE", ROOT / ".cache" / "clients"))


def skip_loudly(why: str) -> None:
    """Skip, with words that stand out in the list at the end of a run."""
    pytest.skip(f"{LOUD}{why}")


class Kubectl:
    """kubectl in one namespace."""

    def __init__(self, program: str, kubeconfig: str, namespace: str, home: pathlib.Path) -> None:
        self.command = [program, "--namespace", namespace]
        self.home = home
        self.environment = {
            **os.environ,
            "KUBECONFIG": kubeconfig,
            "KUBECACHEDIR": str(home / "cache"),
            "HOME": str(home),
        }

    def run(self, *words: str, stdin: str | None = None, code: int = 0) -> str:
        """What kubectl prints; it must end with this code."""
        done = subprocess.run(
            [*self.command, *words],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment,
            check=False,
        )
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.errors = done.stderr
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.command, *words], stdout=subprocess.PIPE, text=True, env=self.environment
        )


def find_kubectl() -> str | None:
    value = os.environ.get("CROSSPLY_KUBECTL")
    if value:
        return value
    cluster = os.environ.get("CROSSPLY_CLUSTER_CACHE", str(ROOT / ".cache" / "cluster"))
    built = sorted(glob.glob(os.path.join(cluster, "*", "bin", "kubectl")), key=os.path.getmtime)
    return built[-1] if built else find("kubectl")


@pytest.fixture(scope="session")
def kubectl_home(tmp_path_factory):
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(server, ns, kubectl_home):
    program = find_kubectl()
    if program is None:
        skip_loudly("there is no kubectl: tests/cluster/build.sh builds one, CROSSPLY_KUBECTL names another")
    return Kubectl(program, server.kubeconfig, ns, kubectl_home)


@pytest.fixture
def widget(widget_definition):
    """Manifests of objects of a custom kind: `widget(name, size=1)`."""

    def manifest(name="one", **spec):
        versions = widget_definition["spec"]["versions"]
        return yaml.safe_dump(
            {
                "apiVersion": f"{widget_definition['spec']['group']}/{versions[0]['name']}",
                "kind": "Widget",
                "metadata": {"name": name},
                "spec": spec,
            }
        )

    return manifest


@pytest.fixture
def resource(widget_definition):
    """What kubectl calls that kind."""
    return widget_definition["metadata"]["name"]


@pytest.fixture(scope="session")
def client_python():
    """A Python with the clients of requirements/clients.txt, set up once for each version of that file."""
    pinned = (ROOT / "requirements" / "clients.txt").read_bytes()
    home = CACHE / f"{hashlib.sha256(pinned + sys.version.encode()).hexdigest()[:16]}"
    python = home / "bin" / "python"
    home.mkdir(parents=True, exist_ok=True)
    with open(home.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may set it up at the same time
        if not (home / "ready").exists():
            venv.create(home, with_pip=True, clear=True, symlinks=True)
            command = [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
            ]
            done = subprocess.run(
                [*command, str(ROOT / "requirements" / "clients.txt")],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                skip_loudly(f"the Python clients cannot be installed: {done.stderr.strip()[-300:]}")
            (home / "ready").touch()
    return str(python)


@pytest.fixture
def run_python(client_python, server, ns, kubectl_home):
    """Run a program of this directory with a Python that has the clients."""

    def run(program: str, *words: str) -> str:
        path = pathlib.Path(__file__).parent / "programs" / program
        environment = {"PATH": os.environ["PATH"], "KUBECONFIG": server.kubeconfig, "HOME": str(kubectl_home)}
        done = subprocess.run(
            [client_python, str(path), ns, *words],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def informer():
    """The Go program of the directory informer/, built once for each version of its sources."""
    source = pathlib.Path(__file__).parent / "informer"
    key = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(source.iterdir()))).hexdigest()[:16]
    program = CACHE / f"informer-{key}"
    if program.exists():
        return str(program)
    go = find("go")
    if go is None:
        skip_loudly("there is no Go to build the program with client-go's informers")
    CACHE.mkdir(parents=True, exist_ok=True)
    part = f"{program}.{os.getpid()}.part"
    environment = {**os.environ, "CGO_ENABLED": "0"}
    done = subprocess.run(
        [go, "build", "-trimpath", "-o", part, "."],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        skip_loudly(f"the program with informers cannot be built: {done.stderr.strip()[-300:]}")
    os.replace(part, program)
    return str(program)
