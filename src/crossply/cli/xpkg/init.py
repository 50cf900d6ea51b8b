"""`crossply xpkg init`: create a package from a template in a Git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.values.goquote import quote

TEMPLATES = {
    "provider-template": "https://github.com/crossplane/provider-template",
    "provider-template-upjet": "https://github.com/crossplane/upjet-provider-template",
    "function-template-go": "https://github.com/crossplane/function-template-go",
    "function-template-python": "https://github.com/crossplane/function-template-python",
    "configuration-template": "https://github.com/crossplane/configuration-template",
}
_NOTES, _SCRIPT = "NOTES.txt", "init.sh"


class InitError(CrossplyError):
    """A package could not be created from a template."""

    code = "CP-595"


def run(invocation: Invocation) -> int:
    """Copy the template, show its notes, and run its script if the user agrees."""
    directory, template = invocation["directory"], invocation["template"]
    _prepare(directory)
    url = TEMPLATES.get(template, template)
    commit, branch = _clone(url, invocation["ref-name"] or "", directory)
    place = f"{url.rstrip('/')}/tree/{commit}"
    message = f"Initialized package {quote(invocation['name'])} in directory {quote(directory)}"
    invocation.stdout.write(f"{message} from {place} ({branch})\n")
    notes = os.path.join(directory, _NOTES)
    if os.path.isfile(notes):
        invocation.stdout.write(f"\n{_text(notes)}\n")
    script = os.path.join(directory, _SCRIPT)
    if os.path.isfile(script):
        _offer(invocation, script)
    return 0


def _prepare(directory: str) -> None:
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise InitError(f"path {directory} is not a directory")
    try:
        os.makedirs(directory, mode=0o750, exist_ok=True)
        present = sorted(name for name in os.listdir(directory) if name != ".git")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InitError(f"failed to create directory {directory}: {reason}") from None
    if present:
        names = ", ".join(present)
        raise InitError(
            f"directory {directory} is not empty, contains existing files/directories: {names}",
            hint="name another directory with --directory",
        )


def _clone(url: str, ref: str, directory: str) -> tuple[str, str]:
    """Put the files of a repository into a directory, without its history; its commit and branch."""
    # A template is a repository, not a way to run programs: git's "ext::" transport would be one.
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
    with tempfile.TemporaryDirectory(prefix="crossply-init-") as scratch:
        clone = os.path.join(scratch, "clone")
        words = ["git", "clone", "--quiet", "--depth=1"]
        words += [f"--branch={ref.removeprefix('refs/heads/').removeprefix('refs/tags/')}"] if ref else []
        _git([*words, "--", url, clone], environ, f"failed to clone repository from {quote(url)}")
        commit = _git(["git", "-C", clone, "rev-parse", "HEAD"], environ, "failed to read HEAD")
        branch = _git(
            ["git", "-C", clone, "rev-parse", "--abbrev-ref", "HEAD"], environ, "failed to read HEAD"
        )
        shutil.rmtree(os.path.join(clone, ".git"))
        shutil.copytree(clone, directory, symlinks=True, dirs_exist_ok=True)
    return commit, branch


def _git(words: list[str], environ: dict[str, str], prefix: str) -> str:
    try:
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InitError(f"{prefix}: git is not installed", hint="install git") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["unknown error"]
        raise InitError(f"{prefix}: {lines[-1]}")
    return done.stdout.strip()


def _offer(invocation: Invocation, script: str) -> None:
    """Run the template's script if the user agrees."""
    if invocation["run-init-script"]:
        _run(invocation, script)
        return
    invocation.stdout.write("\nFound init.sh script!\n")
    while True:
        invocation.stdout.write("Do you want to run it? [y]es/[n]o/[v]iew: ")
        invocation.stdout.flush()
        answer = invocation.stdin.readline().strip()
        if answer in ("v", "view"):
            invocation.stdout.write(f"\n{_text(script)}\n")
            continue
        if answer in ("y", "yes"):
            _run(invocation, script)
        return


def _run(invocation: Invocation, script: str) -> None:
    invocation.stdout.flush()
    try:
        code = subprocess.run([script, invocation["name"], invocation["directory"]], check=False).returncode
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InitError(f"failed to run init script {script}: {reason}") from None
    if code:
        raise InitError(f"failed to run init script {script}: exit status {code}")


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


COMMAND = Command(
    "init",
    "Initialize a new package from a template.",
    run,
    arguments=(
        Argument("name", "The name of the new package to initialize."),
        Argument("template", "The template name or URL to use to initialize the new package."),
    ),
    flags=(
        Flag(
            "directory",
            "The directory to initialize. It must be empty if it exists.",
            short="d",
            kind="path",
            default=".",
        ),
        Flag("run-init-script", "Runs the init.sh script if it exists without prompting.", short="r"),
        Flag(
            "ref-name",
            "The branch or tag to clone from the template repository.",
            short="b",
            kind="string",
        ),
    ),
    description=(
        "Any Git repository can be a template. These have names:\n\n"
        + "\n\n".join(f"{name}: {url}" for name, url in TEMPLATES.items())
    ),
    examples=("crossply xpkg init function-example function-template-python -d function-example",),
)
