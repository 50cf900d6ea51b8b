r"""Columns that are as wide as their widest cell, laid out as Go's text/tabwriter does.

A cell is text that ends in a tab; the text after a line's last tab belongs to no column. A column is a run
of lines that have a cell there: a message with a line break in it begins a new one, as it does in Go.
"""

from __future__ import annotations

MIN_WIDTH, PADDING = 6, 3


def align(text: str) -> str:
    """The text with spaces for tabs."""
    lines = [line.split("\t") for line in text.replace("\v", "\t").replace("\f", "\n").split("\n")]
    widths: list[list[int]] = [[] for _ in lines]
    _measure(lines, widths, 0, len(lines))
    return "\n".join(_laid_out(cells, width) for cells, width in zip(lines, widths, strict=True))


def _measure(lines: list[list[str]], widths: list[list[int]], start: int, end: int) -> None:
    """Give every line its widths: column by column, each time for the lines that reach so far."""
    runs = [(start, end, 0)]
    while runs:
        start, end, column = runs.pop()
        line = start
        while line < end:
            stop = line
            while stop < end and len(lines[stop]) > column + 1:
                stop += 1
            if stop > line:
                width = max(len(cells[column]) + PADDING for cells in lines[line:stop])
                for row in range(line, stop):
                    widths[row].append(max(width, MIN_WIDTH))
                runs.append((line, stop, column + 1))
            line = stop + 1


def _laid_out(cells: list[str], widths: list[int]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)) + cells[-1]
