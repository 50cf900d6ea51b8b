"""An image that serves a built-in function, made of this very interpreter, and an engine to run it."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import secrets
import subprocess
import sys
import sysconfig
import tarfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from crossply.functions import docker_engine
from tests.support.programs import find, path_of

IMAGE = f"localhost/crossply-test-{secrets.token_hex(4)}/function-auto-ready:latest"
"""For this run alone: removing an image removes its containers."""
_LEFT_OUT = re.compile(
    r"(^|/)(test|tests|idlelib|ensurepip|tkinter|lib2to3|__pycache__|site-packages|config-[^/]*)(/|$)"
)
_PACKAGES = ("grpc", "google", "grpc_health", "grpc_reflection", "typing_extensions.py")
_MAIN = "from crossply.cli.main import main; import sys; sys.exit(main())"


def import_image(endpoint: Any, name: str = IMAGE) -> None:
    """Load an image into the engine whose entry point serves a built-in function."""
    entry = [os.path.realpath(sys.executable), "-c", _MAIN, "function", "serve", "auto-ready"]
    changes = [f"ENTRYPOINT {json.dumps(entry)}", "ENV PYTHONPATH=/site"]
    repository, tag = name.rsplit(":", 1)
    query = urlencode({"fromSrc": "-", "repo": repository, "tag": tag, "changes": changes}, doseq=True)
    connection = docker_engine._connection(endpoint)
    connection.request(
        "POST", f"/images/create?{query}", _file_system(), {"Content-Type": "application/x-tar"}
    )
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    assert answer.status == 200, body


def _file_system() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        add_interpreter(archive)
        site = Path(sysconfig.get_path("purelib"))
        for package in _PACKAGES:
            if (site / package).exists():
                archive.add(site / package, arcname=f"/site/{package}", filter=included)
        archive.add(Path(docker_engine.__file__).parents[1], arcname="/site/crossply", filter=included)
    return buffer.getvalue()


def add_interpreter(archive: tarfile.TarFile) -> None:
    """Put this very interpreter into an archive, with what it and gRPC are linked with."""
    library = sysconfig.get_path("stdlib")
    archive.add(library, filter=included)
    archive.add(os.path.realpath(sys.executable))
    for path in _shared_libraries(Path(library)):
        archive.add(os.path.realpath(path), arcname=path)


def included(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if _LEFT_OUT.search(member.name) else member


def _shared_libraries(library: Path) -> list[str]:
    """Everything that the interpreter and its extension modules are linked with."""
    binaries = [os.path.realpath(sys.executable), *map(str, library.glob("lib-dynload/*.so"))]
    binaries += map(str, Path(sysconfig.get_path("platlib")).glob("g*/**/*.so"))
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
    # Relative to the binary in interpreters that can be moved: /opt/python/bin/../lib/libpython3.so.
    return sorted({os.path.normpath(path) for path in re.findall(r"(/\S+) \(0x", listed)})


def start_podman(directory: Path) -> Any:
    """Serve the Docker API with podman, configured for where we are; gives the process and the endpoint."""
    files, processes = (
        resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
    )
    limits = [f"nofile={min(files, 1024)}:{min(files, 1024)}"]
    if processes > 0:
        limits.append(f"nproc={min(processes, 1024)}:{min(processes, 1024)}")
    runtime = "runc" if find("runc") else "crun"
    settings = directory / "containers.conf"
    settings.write_text(
        f'[containers]\ndefault_ulimits = {json.dumps(limits)}\n[engine]\nruntime = "{runtime}"\n'
    )
    endpoint = f"unix://{directory}/podman.sock"
    process = subprocess.Popen(
        [path_of("podman"), "--log-level=error", "system", "service", "--time=0", endpoint],
        env={**os.environ, "CONTAINERS_CONF": str(settings)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(100):
        if (directory / "podman.sock").exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    return process, endpoint
