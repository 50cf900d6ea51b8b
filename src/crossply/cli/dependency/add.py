"""`crossply dependency add`: add a package, or CRDs from a URL or git repository, to a project."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.flags import CACHE_DIR_FLAG, PROJECT_FILE_FLAG
from crossply.errors import CrossplyError
from crossply.project.dependency_entries import Named, described, entry_of, text_with, with_dependency
from crossply.project.dependency_fetcher import DependencyFetcher
from crossply.project.folder import ProjectFolder, open_project
from crossply.project.model_folders import schema_files, write_schemas
from crossply.values import Object


def run(invocation: Invocation) -> int:
    folder = open_project(invocation["project-file"])
    named = Named(
        invocation["package"],
        bool(invocation["api-only"]),
        invocation["git-ref"] or "",
        invocation["git-path"] or "",
    )
    entry = entry_of(named)
    fetching = DependencyFetcher(invocation, folder.project, invocation["cache-dir"], anew=False)
    with step_output(f"Adding {described(entry)}", invocation.stderr.write):
        entry = fetching.add(entry)
        schema_files(folder, fetching.crds)  # What there can be no models of is not noted.
        folder.rewrite(text_with(folder, entry))
    # Opened anew: what models there are depends on the entries of the file.
    _generate(invocation, open_project(invocation["project-file"]), fetching, entry)
    return 0


def _generate(
    invocation: Invocation, folder: ProjectFolder, fetching: DependencyFetcher, entry: Object
) -> None:
    """Models of all that the project depends on. What else cannot be had does not harm the new one."""
    entries, _ = with_dependency(list(folder.project.dependencies), entry)
    try:
        for other_entry in entries:
            if other_entry is not entry:
                fetching.add(other_entry)
        files = schema_files(folder, fetching.crds)
    except CrossplyError as problem:
        invocation.stderr.write(
            f"models were not generated: {problem}\n"
            "run `crossply dependency update-cache` when it can be had\n"
        )
        return
    write_schemas(folder, files)


COMMAND = Command(
    "add",
    "Add a dependency to a project.",
    run,
    arguments=(
        Argument(
            "package",
            "Package to add (xpkg OCI reference, k8s:<version>, git repository URL, or HTTP(S) URL).",
        ),
    ),
    flags=(
        PROJECT_FILE_FLAG,
        CACHE_DIR_FLAG,
        Flag("api-only", "Mark an xpkg dependency as API-only (not a runtime dependency)."),
        Flag("git-ref", "Git ref for CRD dependencies (branch, tag, or commit SHA).", kind="string"),
        Flag("git-path", "Path to CRDs in the git repository.", kind="string"),
    ),
    description=(
        "Fetches a package and its dependencies into the cache, adds it to the project file, and "
        "generates\n"
        "models of its kinds. A tag or a version constraint follows the colon; without it any "
        "version\n"
        "matches. Comments and order of the project file are preserved. An existing dependency "
        "gets the new\n"
        "version."
    ),
    examples=(
        "crossply dependency add registry.example.org/team/provider-lamps:v1.2.0",
        "crossply dependency add 'registry.example.org/team/provider-lamps:>=v1.0.0'",
        "crossply dependency add https://github.com/team/crds --git-ref=v1.0.0 --git-path=crds",
        "crossply dependency add https://example.org/crds/lamps.yaml",
    ),
)
