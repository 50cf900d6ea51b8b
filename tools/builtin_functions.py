"""The page of built-in functions, made of their catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable

from crossply.functions.builtin.catalogue import CATALOGUE, BuiltIn

FOLDER = "docs/reference/functions"


def builtin_function_pages(root: str, notice: str) -> dict[str, Callable[[], str]]:
    """The page by its path."""
    return {f"{FOLDER}/index.md": lambda: _page(root, notice)}


def _page(root: str, notice: str) -> str:
    sections = [
        "# Built-in functions",
        notice,
        "These functions run inside Crossply and replace the published packages, whatever their version. "
        "A package is replaced if the last two parts of its repository, the organisation and the name, are "
        "in the table. So packages from a mirror that keeps these parts are replaced, too. "
        "`crossply functions` prints the same list.",
        "A package of another organisation with the same name is not replaced: Crossply runs its image. "
        "To use the built-in function in its place, annotate the Function with "
        "`crossply.dev/runtime: builtin`, or render with `--function-runtime=builtin` "
        "([what wins](../../how-to/run-functions-locally.md#what-wins)).",
        "\n".join(
            [
                "| function | replaces | compared with | how |",
                "|---|---|---|---|",
                *(_row(root, function) for function in CATALOGUE),
            ]
        ),
        "Later versions of a published function may do more than the version that the built-in one was "
        "compared with. To run a published version itself, use `--function-runtime=container` or the "
        "annotation `crossply.dev/runtime: container`.",
    ]
    return "\n\n".join(sections) + "\n"


def _row(root: str, function: BuiltIn) -> str:
    page = f"{function.name}.md"
    has_page = os.path.exists(os.path.join(root, FOLDER, page))
    name = f"[{function.name}]({page})" if has_page else function.name
    repositories = ", ".join(f"`{repository}`" for repository in function.repositories)
    return f"| {name} | {repositories} | {function.version} | {function.comparison} |"
