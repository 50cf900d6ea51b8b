"""The README of an exported run: what is in the directory, and the commands that use it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from crossply.runs.model import Run

_FLAGS = (
    ("observed.yaml", "--observed-resources observed.yaml"),
    ("required.yaml", "--required-resources required.yaml"),
    ("credentials.yaml", "--function-credentials credentials.yaml"),
    ("definition.yaml", "--xrd definition.yaml"),
)
_FILES = {
    "xr.yaml": "the composite resource, as functions saw it",
    "composition.yaml": "the revision of the Composition that was used",
    "functions.yaml": "the functions that it calls",
    "observed.yaml": "the composed resources that existed",
    "required.yaml": "what functions asked for, and connection Secrets",
    "credentials.yaml": "the credentials of functions, with placeholders for their values",
    "definition.yaml": "as much of the definition as rendering needs",
    "run_test.yaml": "a test case that expects the recorded result",
}


def render_command(files: Collection[str]) -> str:
    """The command that renders the run."""
    functions = ["functions.yaml"] if "functions.yaml" in files else []
    flags = [flag for file, flag in _FLAGS if file in files]
    if any(file.startswith("schemas/") for file in files):
        flags.append("--required-schemas schemas")
    return " ".join(["crossply render xr.yaml composition.yaml", *functions, *flags])


def readme(run: Run, files: Collection[str]) -> str:
    """The text of README.md."""
    summary, subject = run.summary, run.summary.subject
    started = datetime.fromtimestamp(summary.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    place = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
    lines = [
        f"# Run {summary.id}",
        "",
        f"{subject.kind} {place} ({subject.api_version}), {started}: {summary.outcome}.",
        *([f"\n    {line}" for line in summary.problem.splitlines()] if summary.problem else []),
        "",
        "Render it, or run it as a test, in this directory:",
        "",
        f"    {render_command(files)}",
        "    crossply test",
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{file}` | {text} |" for file, text in _FILES.items() if file in files),
        *(["| `schemas/` | the schemas that functions asked for |"] if _has_schemas(files) else []),
    ]
    if run.redacted:
        lines += [
            "",
            f"{run.redacted} secret values were not recorded. A placeholder stands for each: `redacted-` and",
            "eight characters, in base64 where the value was. Put real values in their place if a function",
            "needs them.",
        ]
    return "\n".join(lines) + "\n"


def _has_schemas(files: Collection[str]) -> bool:
    return any(file.startswith("schemas/") for file in files)
