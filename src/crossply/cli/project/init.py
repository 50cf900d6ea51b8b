"""`crossply project init`: create the folders and the project file of a new project."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.errors import CrossplyError
from crossply.manifests.file_io import in_go_words, make_directory, write_file
from crossply.project import PROJECT_FILE

_FOLDERS = ("apis", "functions", "examples", "tests", "operations")


class ProjectInitError(CrossplyError):
    """A project cannot be created with these arguments, or in this directory."""

    code = "CP-584"


def run(invocation: Invocation) -> int:
    """Make the project."""
    name = _checked(invocation["name"])
    directory = invocation["directory"] or name
    _check_directory(directory)
    repository = _repository(invocation["registry"], (invocation["repository"] or "").strip() or name)
    with step_output("Initializing project", invocation.stderr.write):
        make_directory(directory, f"failed to create directory {directory}")
        for folder in _FOLDERS:
            path = os.path.join(directory, folder)
            make_directory(path, f"failed to create directory {path}")
            # So that git keeps it while it is empty.
            keep = os.path.join(path, ".gitkeep")
            write_file(keep, "", f"failed to write {keep}")
        text = _TEXT.format(name=name, repository=repository)
        write_file(os.path.join(directory, PROJECT_FILE), text, f"failed to write {PROJECT_FILE}")
    return 0


def _checked(name: str) -> str:
    from crossply.apiserver.registry.name_validation import dns_1035_problems

    problems = dns_1035_problems(name)
    if problems:
        reason = f"DNS-1035 constraints: {'; '.join(problems)}"
        raise ProjectInitError(f"'{name}' is not a valid project name. {reason}")
    return name


def _check_directory(directory: str) -> None:
    """Raise if there is something already; only a repository of git may be."""
    if not os.path.lexists(directory):
        return
    if not os.path.isdir(directory):
        raise ProjectInitError(f"path {directory} is not a directory", hint="choose another with --directory")
    try:
        present = os.listdir(directory)
    except OSError as problem:
        cause = in_go_words("open", directory, problem)
        raise ProjectInitError(f"failed to read directory {directory}: {cause}") from None
    if any(not _is_git(directory, name) for name in present):
        raise ProjectInitError(f"directory {directory} is not empty", hint="choose another with --directory")


def _is_git(directory: str, name: str) -> bool:
    return name == ".git" and os.path.isdir(os.path.join(directory, name))


def _repository(registry: str, name: str) -> str:
    from crossply.xpkg.image_reference import full_repository

    prefix = registry.strip().rstrip("/")
    if not prefix:
        raise ProjectInitError(
            "registry cannot be empty; set --registry to an OCI registry prefix like "
            "'xpkg.crossplane.io/my-org'"
        )
    try:
        return full_repository(f"{prefix}/{name}")
    except CrossplyError as problem:
        hint = "it is made of --registry and --repository: registry.example.org/team and a name"
        raise problem.replace(hint=hint).within(f'cannot build repository "{prefix}/{name}"') from None


_TEXT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata:
  name: {name}
spec:
  repository: {repository}
"""

COMMAND = Command(
    "init",
    "Create a project of packages that are developed together.",
    run,
    arguments=(Argument("name", "The name of the new project."),),
    flags=(
        Flag("directory", "Directory to initialize. Defaults to project name.", short="d", kind="path"),
        Flag(
            "registry",
            "Override the registry in the project file.",
            short="r",
            kind="string",
            default="example.com/my-org",
        ),
        Flag(
            "repository",
            "Override the repository name in the project file. Defaults to the project name.",
            kind="string",
        ),
    ),
    description=(
        "Creates crossplane-project.yaml and the empty folders of a project: apis, functions, "
        "examples, tests\n"
        "and operations. `crossply new project` creates a project with content."
    ),
    examples=(
        "crossply project init platform --registry=registry.example.org/team",
        "crossply project init platform -d . --repository=our-platform",
    ),
)
