"""What pages name exists: files, modules, metrics, annotations, variables, ports, errors, settings."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Callable, Iterator

import pytest
import yaml

from crossply.record.control_plane_metrics import ALL as METRICS
from crossply.record.process_metrics import process_families
from tests.support.docs.pages import ROOT, Page, pages
from tests.support.docs.repository import identifiers, matches_in, modules, paths, text_of

pytestmark = pytest.mark.xdist_group("names-in-docs")  # reading all names takes seconds: one worker does it

PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
ROOMS = sorted(path.name for path in (ROOT / "src" / "crossply").iterdir() if path.is_dir())
FILES_AND_ADDRESSES = ("dev", "git", "toml", "yaml", "io", "db")
CODE = (
    "src/**/*.py",
    "deploy/**/*.yaml",
    "tools/*",
    "examples/**/*.yaml",
    "providers/**/*.py",
    "providers/**/*.yaml",
    "tests/**/*.py",
    "tests/**/*.sh",
    "Makefile",
)

ON_THE_PROJECT = ("docs/reliability", "docs/conformance", "docs/decisions", "CONTRIBUTING")
"""Pages that speak of our tests; others speak of those of their readers."""
ON_THE_CODE = ("docs/decisions", "CONTRIBUTING")
"""Pages that name modules by themselves."""
OF_OTHERS = {
    "0": "any free port",
    "4318": "a collector of OpenTelemetry",
    "5001": "the registry of the tutorials on functions and providers",
    "8765": "the ticket server of the tutorial on providers",
}
"""Ports that are not ours."""


def check(page: Page, mentioned: Iterator[tuple[int, str]], known: Callable[[str], bool]) -> None:
    problems = [f"{page.name}:{line}: {name}" for line, name in mentioned if not known(name)]
    assert not problems, "\n".join(problems)


def everywhere(page: Page, pattern: str) -> Iterator[tuple[int, str]]:
    """What a pattern finds in the page, with the lines."""
    for number, line in enumerate(page.path.read_text().split("\n"), start=1):
        for match in re.finditer(pattern, line):
            yield number, match[0]


def in_code(page: Page, pattern: str) -> Iterator[tuple[int, str]]:
    """What a pattern finds in code within sentences."""
    for span in page.spans:
        for match in re.finditer(pattern, span.text):
            yield span.line, match[0]


@PAGES
def test_every_file_of_the_repository_that_is_named_exists(page: Page) -> None:
    tops = "src|tests|tools|bench|deploy|docs|examples|requirements|" + "|".join(ROOMS)
    if page.name.startswith(("docs/how-to", "docs/tutorial", "docs/reference", "examples", "CHANGELOG")):
        tops = "src|tools|bench|deploy"  # readers have folders called tests, functions and packages, too
    named = in_code(page, rf"(?<![\w./-])(?:{tops})/[\w./*-]*\w(?:/|\b)")
    check(page, named, lambda name: "*" in name or name.rstrip("/.") in paths() or name in modules())


@PAGES
def test_every_module_that_is_named_exists(page: Page) -> None:
    check(page, everywhere(page, r"(?<![\w.])crossply\.[a-z_]+(?:\.\w+)*\b(?!/)"), _is_importable)


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.name.startswith(ON_THE_CODE)], ids=lambda page: page.name
)
def test_every_bare_name_of_a_module_belongs_to_one(page: Page) -> None:
    """A path is a module or file. A name of several words is a module, or else a name in the code.

    A single word is not checked: it may be a word of Python, of Kubernetes or of a shell.
    """
    paths_of_modules = in_code(page, r"^[a-z][a-z0-9_]*(?:/[a-z][a-z0-9_]*)+(?:\.py)?$")
    check(page, paths_of_modules, lambda name: name in paths() or name.removesuffix(".py") in modules())
    names = in_code(page, r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$")
    check(page, names, lambda name: name in modules() or name in identifiers())


@functools.cache
def _is_importable(name: str) -> bool:
    if name.split(".")[1] in FILES_AND_ADDRESSES:
        return True
    module, rest = name, []
    while module:
        try:
            value = importlib.import_module(module)
        except ImportError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
            continue
        for attribute in rest:
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True
    return False


@PAGES
def test_everything_that_a_python_example_imports_from_crossply_exists(page: Page) -> None:
    problems = []
    for block in page.blocks:
        if block.language not in ("python", "py"):
            continue
        for node in ast.walk(ast.parse(_complete_python(block.text))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "crossply":
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                problems += [
                    f"{page.name}:{block.line}: {name}" for name in names if not _is_importable(name)
                ]
    assert not problems, "\n".join(problems)


def _complete_python(text: str) -> str:
    """An example with what it leaves out put in."""
    return re.sub(r"\{…\}|\{\.\.\.\}", "{}", text.replace(", ...}", "}").replace("…", "..."))


def test_every_part_of_a_flow_in_the_map_of_the_code_is_a_module() -> None:
    page = next(page for page in pages() if page.name == "CONTRIBUTING.md")
    flows = [block for block in page.blocks if "─▶" in block.text]
    assert flows, "the flows are drawn with arrows"
    named = [
        (block.line, word)
        for block in flows
        for word in re.findall(r"\b[a-z]+(?:[_/][a-z_]+)+\b", re.sub(r"\([^)]*\)", "", block.text))
    ]
    check(page, iter(named), lambda name: name in modules())


@PAGES
def test_every_metric_that_is_named_is_served(page: Page) -> None:
    names = {family.name for family in METRICS} | {family.name for family in process_families()}
    prefixes = "|".join(sorted({name.split("_", maxsplit=1)[0] for name in names}))
    mentioned = everywhere(
        page, rf"(?<![\w./-])(?:{prefixes})(?:_[a-z]+)+_(?:total|seconds|bytes|bucket|sum|count)\b"
    )
    check(page, mentioned, lambda name: name in names or re.sub(r"_(bucket|sum|count)$", "", name) in names)


@PAGES
def test_every_annotation_label_and_version_of_our_groups_is_known_to_the_program(page: Page) -> None:
    pattern = r"(?<![\w.-])(?:[\w-]+\.)*(?:crossply\.dev|crossplane\.io)/[\w-]+"
    check(page, everywhere(page, pattern), _is_known_name)


@functools.cache
def _is_known_name(name: str) -> bool:
    group, _, word = name.partition("/")
    if group.startswith("xpkg."):
        return True  # a registry
    program = text_of(
        "src/**/*.py", "src/**/*.yaml", "src/**/*.json", "deploy/**/*.yaml", "providers/**/*.yaml"
    )
    if group.endswith(".fn.crossplane.io"):
        program += text_of(
            "examples/**/*.yaml", "tests/functions/**/*.py"
        )  # inputs: a function reads no version
    if re.match(
        r"^[a-z]+\.(pkg|apiextensions|ops|protection)\.crossplane\.io$", group
    ) and not group.startswith("meta."):
        return True  # a kind and a name, as kubectl prints them
    if name.rstrip("-") in program:
        return True
    return f'"{word}"' in program and f"{group}/" in program


@PAGES
def test_every_environment_variable_of_ours_is_read_somewhere(page: Page) -> None:
    known = matches_in(r"\b(?:CROSSPLY|CROSSPLANE)_\w+", *CODE)
    check(page, everywhere(page, r"\b(?:CROSSPLY|CROSSPLANE)_[A-Z_]*[A-Z]\b"), known.__contains__)


@PAGES
def test_every_port_that_is_named_is_one_that_the_program_uses(page: Page) -> None:
    used = matches_in(r"(?<![\w.])\d{2,5}(?![\w.])", "src/**/*.py", "deploy/**/*.yaml", "providers/**/*.py")
    mentioned = everywhere(
        page, r"(?<=localhost:)\d+|(?<=127\.0\.0\.1:)\d+|(?<=0\.0\.0\.0:)\d+|(?<=\bport )\d+"
    )
    check(page, mentioned, lambda port: port in used or port in OF_OTHERS)


@PAGES
def test_every_path_of_a_request_that_is_named_is_served(page: Page) -> None:
    program = text_of("src/**/*.py")
    named = [(span.line, span.text) for span in page.spans if re.fullmatch(r"(/[a-z][\w-]*)+", span.text)]
    check(page, iter(named), lambda path: all(part in program for part in path.strip("/").split("/")))


@PAGES
def test_every_example_in_yaml_can_be_read(page: Page) -> None:
    problems = []
    for block in page.blocks:
        if block.language in ("yaml", "yml"):
            try:
                list(yaml.safe_load_all(block.text))
            except yaml.YAMLError as error:
                problems.append(f"{page.name}:{block.line}: {error}")
    assert not problems, "\n".join(problems)


@PAGES
def test_every_error_code_that_is_named_exists(page: Page) -> None:
    codes = matches_in(r"CP-\d{3}", "src/**/*.py")
    check(page, everywhere(page, r"\bCP-\d+\b"), codes.__contains__)


@PAGES
def test_every_target_of_make_that_is_named_exists(page: Page) -> None:
    targets = matches_in(r"^([a-z0-9-]+):", "Makefile")
    named = [(span.line, span.text.split()[1]) for span in page.spans if re.match(r"make [a-z]", span.text)]
    for block in page.blocks:
        calls = (
            re.findall(r"^(?:\$ )?make ([a-z0-9-]+)", block.text, re.M) if block.language != "make" else []
        )
        named += [(block.line, target) for target in calls]
    check(page, iter(named), targets.__contains__)


@PAGES
def test_every_setting_of_the_chart_that_is_named_exists(page: Page) -> None:
    values = yaml.safe_load((ROOT / "deploy" / "chart" / "values.yaml").read_text())
    tops = "|".join(values)
    named = list(everywhere(page, rf"(?<=--set )(?:{tops}|\w+)(?:\.\w+)*(?==)"))
    named += list(in_code(page, rf"^(?:{tops})(?:\.[a-zA-Z]+)*(?==)"))
    check(page, iter(named), lambda name: _has(values, name.split(".")))


def _has(values: object, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return values == {}  # anything may be put into a map that is empty
        values = values[key]
    return True


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.name.startswith(ON_THE_PROJECT)], ids=lambda page: page.name
)
def test_every_test_that_is_named_exists(page: Page) -> None:
    tests = matches_in(r"\bdef (test_\w+)", "tests/**/*.py")
    tests |= {path.rpartition("/")[2].removesuffix(".py") for path in paths() if "/test_" in path}
    check(page, in_code(page, r"\btest_\w+"), tests.__contains__)
