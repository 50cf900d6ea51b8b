"""A machine with Python alone: Debian's shell, tools and Python in a container, and nothing else."""

from __future__ import annotations

import json
import pathlib
import secrets
import shlex
import subprocess
import sys

from crossply.xpkg.layer_unpack import unpack
from tests.support.docs.markdown_session import Run, Write, matches, session
from tests.support.paths import ROOT
from tests.support.programs import ENGINE, find, require

sys.path.append(str(ROOT / "tools"))
_MORE = (
    "bash",
    "coreutils",
    "grep",
    "libacl1",
    "libattr1",
    "libcap2",
    "libgmp10",
    "libpcre2-8-0",
    "libselinux1",
    "libsystemd0",
    "libtinfo6",
    "python3-pip-whl",
    "python3-setuptools-whl",
    "python3.13-venv",
    "sed",
)
"""The packages of a small installation of Debian beside Python; `venv` is needed by the installation page."""


_HOME = "/home/user"
_OFFLINE = f"PIP_NO_INDEX=1 PIP_FIND_LINKS={_HOME}/wheels"
"""There is no network: what pip would fetch from an index is in a directory."""


class FreshMachine:
    """Commands in containers without a network, which share a home directory. Its `wheels` is pip's index."""

    def __init__(self, directory: pathlib.Path) -> None:
        require(ENGINE)
        from distribution.base_image import debian_packages, from_debian, machine_architecture
        from distribution.debian_index import newest
        from distribution.debian_lock import PACKAGES

        architecture = machine_architecture()
        lock = newest((*PACKAGES, *_MORE))
        packages = debian_packages(lock, architecture, lambda _: True)
        self.root, self.home, self._directory = directory / "root", directory / "home", directory
        self.root.mkdir()
        self.home.mkdir(mode=0o777)
        self.home.chmod(0o777)
        unpack(from_debian(packages, architecture), str(self.root))

    def run_pages(self, *pages: pathlib.Path) -> None:
        """Do what pages say, in one shell, and compare what the commands print with the pages."""
        steps = [step for page in pages for step in session(page.read_text())]
        work = self.home / "steps"
        work.mkdir(mode=0o777)
        work.chmod(0o777)
        self.run("\n".join(self._line(work, number, step) for number, step in enumerate(steps)))
        for number, step in enumerate(steps):
            if isinstance(step, Run):
                printed = work / f"{number}.out"
                output = printed.read_text() if printed.exists() else "(the shell ended before this command)"
                assert matches(step.output, output), f"$ {step.command}\n{output}"

    def _line(self, work: pathlib.Path, number: int, step: Write | Run) -> str:
        """What the shell does for a step: braces keep its directory and its variables."""
        if isinstance(step, Run):
            return f"{{ {step.command}\n}} >{_HOME}/steps/{number}.out 2>&1"
        (work / f"{number}.in").write_text(step.content)
        place = shlex.quote(step.name)
        return f'mkdir -p "$(dirname {place})" && cp {_HOME}/steps/{number}.in {place}'

    def run(self, command: str) -> str:
        """What a command prints, in the home directory."""
        name = f"fresh-{secrets.token_hex(4)}"
        bundle = self._directory / name
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(self._config(command)))
        runc = find("runc")
        engine = [runc] if runc else [find("crun") or "crun", "--cgroup-manager=disabled"]
        words = [*engine, "--root", str(self._directory / "state"), "run", "--bundle", str(bundle), name]
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        return done.stdout

    def _config(self, command: str) -> dict[str, object]:
        environ = ["PATH=/usr/bin:/bin", f"HOME={_HOME}", "LANG=C.UTF-8", *_OFFLINE.split()]
        return {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": 1000, "gid": 1000},
                "args": ["/bin/bash", "-c", command],
                "env": environ,
                "cwd": _HOME,
                "noNewPrivileges": True,
            },
            "root": {"path": str(self.root), "readonly": True},
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]},
                {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
                {"destination": _HOME, "type": "bind", "source": str(self.home), "options": ["rbind"]},
            ],
            # A network of its own that nothing is in: whatever is not on the machine cannot be had.
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]},
        }
