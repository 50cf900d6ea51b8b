"""From the output of a traced template to the fields of its manifests: what each field depends on.

A field depends on the text that it stands on, on that of the keys above it, and on the branches that would
put other text there. Where this is unknown, a field depends on more rather than on less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.functions.builtin.go_templating.engine.taints import CLEAN, Taint
from crossply.functions.builtin.go_templating.engine.traced_render_state import Choice, Span, TracedOutput
from crossply.functions.builtin.go_templating.engine.untaken_text import Line, UntakenText
from crossply.functions.builtin.go_templating.yaml_field_positions import Entry, entries_of
from crossply.functions.field_provenance import Path


class FieldTaint(NamedTuple):
    """What one field depends on, and where in the template its value is printed."""

    value: Taint
    control: Taint
    at: int


class DocumentText(NamedTuple):
    """The text of one document within the output."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def map_document(output: TracedOutput, document: DocumentText) -> dict[Path, FieldTaint]:
    """What each field depends on; the empty path stands for fields that are not listed."""
    spans = [span for span in output.spans if _touches(span, document.start, document.end)]
    choices = [
        choice for choice in output.choices if choice.start <= document.end and choice.end >= document.start
    ]
    everything = FieldTaint(
        CLEAN.union(*(span.value for span in spans)),
        CLEAN.union(*(span.control for span in spans), *(choice.taint for choice in choices)),
        spans[0].at if spans else 0,
    )
    entries = entries_of(document.text)
    fields: dict[Path, FieldTaint] = {(): everything}
    if entries is not None:
        fields |= _Mapper(document, entries, spans, choices).fields()
    return fields


def _touches(span: Span, start: int, end: int) -> bool:
    if span.start == span.end:
        return start <= span.start <= end
    return span.start < end and span.end > start


class _Mapper:
    """Maps one document whose fields are known."""

    def __init__(
        self, document: DocumentText, entries: list[Entry], spans: list[Span], choices: list[Choice]
    ) -> None:
        self._document = document
        self._entries = entries
        self._spans = spans
        self._control = [CLEAN] * len(entries)
        """What decides about an entry and all below it, beside the text that it stands on."""
        for choice in choices:
            self._note(choice)

    def fields(self) -> dict[Path, FieldTaint]:
        heads = self._heads()
        fields = {}
        for index, entry in enumerate(self._entries):
            start, end = self._region(index)
            touched = list(self._touched(start, end))
            value = CLEAN.union(heads[index][0], *(span.value for span in touched))
            control = CLEAN.union(heads[index][1], *(span.control for span in touched))
            # A repeated key: the last one counts.
            fields[entry.path] = FieldTaint(value, control, self._at(touched, entry))
        return fields

    def _heads(self) -> list[tuple[Taint, Taint]]:
        """What the existence of each entry depends on: the keys above it, and the items before it."""
        heads: list[tuple[Taint, Taint]] = []
        items: dict[int | None, tuple[Taint, Taint]] = {}
        for index, entry in enumerate(self._entries):
            value, control = (CLEAN, CLEAN) if entry.parent is None else heads[entry.parent]
            control |= self._control[index]
            touched = list(self._touched(entry.start, self._head_end(entry)))
            value = value.union(*(span.value for span in touched))
            control = control.union(*(span.control for span in touched))
            if entry.is_item:
                before = items.get(entry.parent, (CLEAN, CLEAN))
                value, control = value | before[0], control | before[1]
                items[entry.parent] = value, control
            heads.append((value, control))
        return heads

    def _head_end(self, entry: Entry) -> int:
        """The end of a key or a dash; what follows on later lines belongs to the fields below."""
        line_end = self._document.text.find("\n", entry.start)
        end = entry.start + 1 if entry.is_item else entry.value
        return max(end if line_end < 0 else min(end, line_end), entry.start + 1)

    def _region(self, index: int) -> tuple[int, int]:
        """The text of an entry; in brackets and braces, all of them."""
        entry = self._entries[index]
        while entry.is_flow and entry.parent is not None and self._entries[entry.parent].is_flow:
            entry = self._entries[entry.parent]
        return entry.start, entry.end

    def _touched(self, start: int, end: int) -> Iterator[Span]:
        offset = self._document.start
        return (span for span in self._spans if _touches(span, offset + start, offset + end))

    def _at(self, touched: list[Span], entry: Entry) -> int:
        """Where the value is printed: by the action or the text that it starts with."""
        offset = self._document.start + entry.value
        for span in touched:
            if span.end > offset or span.start == span.end == offset:
                return span.at + max(offset - span.start, 0) if span.is_text else span.at
        return touched[-1].at if touched else 0

    def _note(self, choice: Choice) -> None:
        """Note what would change if another branch was taken."""
        start, end = choice.start - self._document.start, choice.end - self._document.start
        for untaken in choice.untaken:
            text = _from_line_start(untaken, self._document.text, start)
            lines = text.lines()
            if not lines:
                continue
            if _is_whole_lines(text.text, self._document.text, start, end):
                self._note_lines(choice.taint, lines, start, end)
            else:
                self._add(choice.taint, self._joined(text.text, max(start, 0), end))

    def _note_lines(self, taint: Taint, lines: list[Line], start: int, end: int) -> None:
        separators = [index for index, line in enumerate(lines) if line.is_separator]
        if separators:
            self._note_documents(taint, lines, separators, start, end)
            return
        self._add(taint, self._before(lines, start))
        self._add(taint, self._after(lines, end))
        self._add(taint, self._same_keys(lines))

    def _note_documents(
        self, taint: Taint, lines: list[Line], separators: list[int], start: int, end: int
    ) -> None:
        first, last = lines[: separators[0]], lines[separators[-1] + 1 :]
        above = [index for index, entry in enumerate(self._entries) if entry.start < start]
        below = [index for index, entry in enumerate(self._entries) if entry.start >= end]
        if above and below:
            self._add(taint, range(len(self._entries)))
        elif above and first:
            self._add(taint, [*self._before(first, start), *self._same_keys(first)])
        elif below and last:
            self._add(taint, [*self._after(last, end), *self._same_keys(last)])

    def _before(self, lines: list[Line], start: int) -> Iterable[int]:
        """The last field above, if lines would be part of it."""
        above = [index for index, entry in enumerate(self._entries) if entry.start < start]
        if not above:
            return ()
        last = self._entries[above[-1]]
        joins = any(
            line.column is None
            or line.column > last.column
            or (line.is_item and line.column >= last.column and not last.is_item)
            for line in lines[:1]
        )
        return above[-1:] if joins else ()

    def _after(self, lines: list[Line], end: int) -> Iterable[int]:
        """Fields below that would get another parent, or another place in their list."""
        columns = [-1 if line.column is None else line.column for line in lines]
        item_columns = [line.column for line in lines if line.is_item or line.column is None]
        for index, entry in enumerate(self._entries):
            if entry.start < end:
                continue
            moves = entry.is_item and (entry.column in item_columns or None in item_columns)
            if entry.column <= min(columns) and not moves:
                return
            if moves or entry.column > min(columns):
                yield index

    def _same_keys(self, lines: list[Line]) -> Iterable[int]:
        keys = {(line.column, line.key) for line in lines if line.key}
        return [index for index, entry in enumerate(self._entries) if (entry.column, entry.path[-1]) in keys]

    def _joined(self, text: str, start: int, end: int) -> Iterable[int]:
        """The fields of the lines that text would be joined to; and all below, if it has several lines."""
        for index, entry in enumerate(self._entries):
            line_start = self._document.text.rfind("\n", 0, entry.start) + 1
            line_end = self._document.text.find("\n", entry.start)
            last = entry.end if entry.is_leaf or line_end < 0 else line_end
            if (line_start <= end and last >= start) or ("\n" in text and entry.start >= start):
                yield index

    def _add(self, taint: Taint, indexes: Iterable[int]) -> None:
        for index in indexes:
            self._control[index] |= taint


def _from_line_start(untaken: UntakenText, document: str, start: int) -> UntakenText:
    """The text with the spaces before it on its line."""
    prefix = document[document.rfind("\n", 0, max(start, 0)) + 1 : max(start, 0)]
    return UntakenText(prefix + untaken.text) if prefix and not prefix.strip() else untaken


def _is_whole_lines(text: str, document: str, start: int, end: int) -> bool:
    """Whether text in place of a part of a document would not be joined to the lines before or after."""
    line = document[document.rfind("\n", 0, max(start, 0)) + 1 : max(start, 0)]
    at_line_start = start <= 0 or not line.strip()
    at_line_end = end >= len(document) or document[end : end + 1] in ("\n", "")
    if at_line_start and (text.endswith("\n") or at_line_end):
        return True
    return at_line_end and text.startswith("\n")
