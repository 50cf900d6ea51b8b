"""`crossply check`: check a project, a package or any files, without a cluster and without a network."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation

FINDINGS = 1
"""The exit code when there are errors."""
TEXT, JSON, GITHUB = "text", "json", "github"


def run(invocation: Invocation) -> int:
    """Check, print, and fail where there are errors."""
    from crossply.checking.check import CheckOptions, check
    from crossply.cli.check.output import as_annotations, as_json, as_text
    from crossply.cli.framework.progress import progress

    options = CheckOptions(os.path.expanduser(invocation["cache-dir"]), not invocation["no-render"])
    with progress(invocation, "checking"):
        report = check(invocation["path"] or [os.curdir], options)
    if invocation["output"] == JSON:
        invocation.stdout.write(as_json(report))
    elif invocation["output"] == GITHUB:
        invocation.stdout.write(as_annotations(report))
    else:
        invocation.stdout.write(as_text(report, invocation.style))
    failed = report.errors or (invocation["strict"] and report.warnings)
    return FINDINGS if failed else 0


COMMAND = Command(
    name="check",
    summary="Check definitions, Compositions and examples without a cluster.",
    description=(
        "Checks a project (crossplane-project.yaml, upbound.yaml), a Configuration (crossplane.yaml) or any "
        "files: every YAML file parses; definitions and Compositions are valid and belong together; "
        "functions are known and accept their inputs; patches use fields that exist; examples are valid "
        "and render, and what they compose is valid. No cluster and no network is used: kinds of packages "
        "come from the cache, and only built-in functions and those of the project run. Of a project or "
        "package all files are read, and findings are shown for the paths that are named. Exit codes: 0 no "
        "errors, 1 errors."
    ),
    examples=(
        "crossply check",
        "crossply check apis/buckets examples/bucket.yaml",
        "crossply check xrd.yaml composition.yaml functions.yaml xr.yaml",
        "crossply check -o json | jq '.findings[] | select(.level == \"error\")'",
        "crossply check -o github --strict",
    ),
    run=run,
    arguments=(
        Argument(
            "path",
            "Projects, packages, directories or files to check. Defaults to the current directory.",
            kind="string",
            optional=True,
            many=True,
        ),
    ),
    flags=(
        Flag(
            "output",
            "Output format: text, json, or github for annotations of a pull request. Defaults to text.",
            short="o",
            kind="string",
            default=TEXT,
            choices=(TEXT, JSON, GITHUB),
        ),
        Flag("strict", "Fail on warnings, too."),
        Flag("no-render", "Do not render examples: run no functions."),
        Flag(
            "cache-dir",
            "The cache directory of packages. Packages that are not in it are not fetched.",
            kind="string",
            default="~/.crossplane/cache",
            placeholder="DIR",
        ),
    ),
)
