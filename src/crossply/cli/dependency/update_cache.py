"""`crossply dependency update-cache`: fetch all dependencies of a project and generate their models."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.flags import CACHE_DIR_FLAG, PROJECT_FILE_FLAG
from crossply.project.dependency_entries import described
from crossply.project.dependency_fetcher import DependencyFetcher
from crossply.project.folder import open_project
from crossply.project.model_folders import left_out, schema_files, without_kubernetes, write_schemas
from crossply.project.remote_crds import GitLogin


def run(invocation: Invocation) -> int:
    """Fetch the best version of every dependency; models are written when all are fetched."""
    folder = open_project(invocation["project-file"])
    say = invocation.stderr.write
    login = GitLogin(invocation["git-username"], invocation["git-token"] or "", invocation["git-host"])
    fetching = DependencyFetcher(invocation, folder.project, invocation["cache-dir"], anew=True, login=login)
    for entry in folder.project.dependencies:
        with step_output(f"Updating dependency {described(entry)}", say):
            fetching.add(entry)
    with step_output("Generating models", say):
        written = write_schemas(folder, schema_files(folder, fetching.crds))
    for language in without_kubernetes(folder.project):
        say(f"no models of the kinds of Kubernetes itself are generated for {language}\n")
    for language in left_out(folder.project):
        say(f"no models are generated for {language}\n")
    for path in written:
        invocation.stdout.write(f"wrote {path}\n")
    return 0


COMMAND = Command(
    "update-cache",
    "Fetch the dependencies of a project again.",
    run,
    flags=(
        PROJECT_FILE_FLAG,
        CACHE_DIR_FLAG,
        Flag("git-token", "Token for git HTTPS authentication.", kind="string", env="CROSSPLANE_GIT_TOKEN"),
        Flag(
            "git-username",
            "Username for git HTTPS authentication.",
            kind="string",
            default="x-access-token",
            env="CROSSPLANE_GIT_USERNAME",
        ),
        Flag(
            "git-host",
            "The host (with its port, if any) that gets the git token over HTTPS. No other host gets it.",
            kind="string",
            default="github.com",
            env="CROSSPLANE_GIT_HOST",
        ),
    ),
    description=(
        "Resolves each version constraint again, fetches the packages and their dependencies, "
        "and generates\n"
        "models of their kinds in the project's schemas folder: dataclasses for Python, schemas for KCL, "
        "and\n"
        "JSON Schemas for editors."
    ),
    examples=("crossply dependency update-cache",),
)
