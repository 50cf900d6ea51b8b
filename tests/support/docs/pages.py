"""Reading pages of documentation: their code, their links and their headings, each with its line."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT

_FOLDERS = ("bench", "deploy", "providers", "tests", "tools")
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_LINK = re.compile(r"\[(?:[^\][]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s")


class Block(NamedTuple):
    """A block of code; `language` is "" for one that names none or is indented."""

    line: int
    language: str
    text: str


class Span(NamedTuple):
    """Code inside a sentence."""

    line: int
    text: str


class Link(NamedTuple):
    line: int
    target: str


class Section(NamedTuple):
    """A heading and what is below it, up to the next heading."""

    line: int
    heading: str
    blocks: tuple[Block, ...]
    spans: tuple[Span, ...]
    links: tuple[Link, ...]


class Page(NamedTuple):
    path: Path
    sections: tuple[Section, ...]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def blocks(self) -> list[Block]:
        return [block for section in self.sections for block in section.blocks]

    @property
    def spans(self) -> list[Span]:
        return [span for section in self.sections for span in section.spans]

    @property
    def links(self) -> list[Link]:
        return [link for section in self.sections for link in section.links]


@functools.cache
def pages() -> tuple[Page, ...]:
    """Every page of documentation in the repository."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/README.md")]
    paths += [path for folder in _FOLDERS for path in ROOT.glob(f"{folder}/**/*.md")]
    return tuple(read(path) for path in sorted(paths))


@functools.cache
def read(path: Path) -> Page:
    """Read one page."""
    sections: list[Section] = []
    blocks: list[Block] = []
    prose: list[tuple[int, str]] = []
    heading, start = "", 1

    def end_section() -> None:
        spans, links = _spans_and_links(prose)
        sections.append(Section(start, heading, tuple(blocks), tuple(spans), tuple(links)))
        blocks.clear()
        prose.clear()

    lines = path.read_text().split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        if fence:
            end = number + 1
            while end < len(lines) and not lines[end].strip().startswith(fence[1]):
                end += 1
            blocks.append(Block(number + 2, fence[2], "\n".join(lines[number + 1 : end])))
            number = end + 1
        elif line.startswith("    ") and _begins_block(lines, number):
            end = number
            while end < len(lines) and (line_is_indented(lines[end]) or not lines[end].strip()):
                end += 1
            text = "\n".join(line[4:] for line in lines[number:end])
            blocks.append(Block(number + 1, "", text))
            number = end
        else:
            if line.startswith("#"):
                end_section()
                heading, start = line.lstrip("#").strip(), number + 1
            prose.append((number + 1, line))
            number += 1
    end_section()
    return Page(path, tuple(sections))


def line_is_indented(line: str) -> bool:
    return line.startswith("    ")


def _begins_block(lines: list[str], number: int) -> bool:
    """Whether an indented line begins a block: a blank line precedes it, and no item of a list does."""
    if number == 0 or lines[number - 1].strip():
        return False
    before = next((line for line in reversed(lines[:number]) if line.strip()), "")
    return not (_LIST_ITEM.match(before) or (line_is_indented(before) and _LIST_ITEM.match(lines[number])))


def _spans_and_links(prose: list[tuple[int, str]]) -> tuple[list[Span], list[Link]]:
    """Find code and links; both may go on over the end of a line, not over the end of a paragraph."""
    spans: list[Span] = []
    links: list[Link] = []
    for paragraph in _paragraphs(prose):
        text = "\n".join(line for _, line in paragraph)
        first = paragraph[0][0]
        spans += [
            Span(first + text.count("\n", 0, span.start()), " ".join(span[2].split()))
            for span in _SPAN.finditer(text)
        ]
        without_code = _SPAN.sub(lambda span: re.sub(r"[^\n]", "x", span[0]), text)
        links += [
            Link(first + text.count("\n", 0, link.start()), link[1]) for link in _LINK.finditer(without_code)
        ]
    return spans, links


def _paragraphs(prose: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    paragraphs: list[list[tuple[int, str]]] = [[]]
    for number, line in prose:
        cell = line.lstrip().startswith("|")
        if not line.strip() or cell or _LIST_ITEM.match(line):
            paragraphs.append([])
        if line.strip():
            paragraphs[-1].append((number, line))
    return [paragraph for paragraph in paragraphs if paragraph]


def anchors(page: Page) -> set[str]:
    """The anchors that headings have where pages are shown."""
    names: set[str] = set()
    for section in page.sections:
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", section.heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        copies = sum(1 for anchor in names if re.fullmatch(re.escape(slug) + r"(-\d+)?", anchor))
        names.add(f"{slug}-{copies}" if copies else slug)
    return names
