"""A tree as an SVG picture that stands alone: boxes from left to right, lines between them. Pure."""

from __future__ import annotations

from html import escape

from crossply.ui.composed_tree import TreeNode
from crossply.ui.object_state_and_row import WORDS
from crossply.ui.page_templates import cut

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 220, 46, 56, 12, 12
MOST_CHARACTERS = 28
COLOURS = {
    "ready": "#00724f",
    "waiting": "#8a5a00",
    "failing": "#b83a00",
    "missing": "#b83a00",
    "deleting": "#96407a",
    "paused": "#00609c",
    "present": "#5a6672",
    "hidden": "#5a6672",
}
SYMBOLS = {
    "ready": "✓",
    "waiting": "◐",
    "failing": "✕",
    "missing": "?",
    "deleting": "⌫",
    "paused": "‖",
    "present": "•",
    "hidden": "▢",
}


def draw(root: TreeNode) -> str:
    """The picture. Texts are escaped; there is no script and no style in it.

    Its colours are those of the light theme; on a page, the style sheet gives its classes those of the page.
    """
    boxes: list[tuple[int, float, TreeNode]] = []
    lines: list[tuple[int, float, float]] = []
    rows = _place(root, 0, 0.0, boxes, lines)
    columns = max(column for column, _, _ in boxes) + 1
    width = columns * (WIDTH + GAP_X) - GAP_X + 2 * MARGIN
    height = rows * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:g}" '
        f'viewBox="0 0 {width} {height:g}" role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(_label(root))}</title>",
        *(_line(*line) for line in lines),
        *(_box(*box) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def _place(
    node: TreeNode,
    column: int,
    first: float,
    boxes: list[tuple[int, float, TreeNode]],
    lines: list[tuple[int, float, float]],
) -> float:
    """Put a node beside the middle of its children; returns how many rows it takes."""
    used_rows, middles = 0.0, []
    for child in node.children:
        rows = _place(child, column + 1, first + used_rows, boxes, lines)
        middles.append(first + used_rows + (rows - 1) / 2)
        used_rows += rows
    used_rows = max(used_rows, 1.0)
    middle = first + (used_rows - 1) / 2
    boxes.append((column, middle, node))
    lines += [(column, middle, below) for below in middles]
    return used_rows


def _line(column: int, start: float, end: float) -> str:
    x1 = MARGIN + column * (WIDTH + GAP_X) + WIDTH
    x2, bend = x1 + GAP_X, x1 + GAP_X / 2
    y1, y2 = _y(start) + HEIGHT / 2, _y(end) + HEIGHT / 2
    return (
        f'<path d="M{x1} {y1:g}C{bend:g} {y1:g} {bend:g} {y2:g} {x2} {y2:g}" '
        'fill="none" stroke="#8a94a0" stroke-width="1.2"/>'
    )


def _box(column: int, row: float, node: TreeNode) -> str:
    x, y = MARGIN + column * (WIDTH + GAP_X), _y(row)
    colour = COLOURS[node.row.state]
    kind = node.reference.kind if node.number == 1 else f"{node.reference.kind} ×{node.number}"
    below = node.reference.name or "…"
    state = f"{SYMBOLS[node.row.state]} {WORDS[node.row.state]}"
    return (
        f'<g class="state-{node.row.state}"><title>{escape(_label(node))}</title>'
        f'<rect class="graph-box" x="{x}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
        f'fill="#ffffff" stroke="{colour}" '
        f'stroke-width="1.4"/><rect class="graph-mark" x="{x}" y="{y + 8:g}" width="3" '
        f'height="{HEIGHT - 16}" fill="{colour}"/>'
        f'<text class="graph-kind" x="{x + 12}" y="{y + 19:g}" font-weight="600" fill="#16202a">'
        f"{escape(cut(kind, MOST_CHARACTERS - 10))}</text>"
        f'<text class="graph-mark" x="{x + WIDTH - 10}" y="{y + 19:g}" text-anchor="end" '
        f'fill="{colour}">{escape(state)}</text>'
        f'<text class="graph-name" x="{x + 12}" y="{y + 36:g}" fill="#56626f">'
        f"{escape(cut(below, MOST_CHARACTERS))}</text></g>"
    )


def _label(node: TreeNode) -> str:
    return cut(f"{node.reference.kind} {node.reference.name}: {WORDS[node.row.state]}")


def _y(row: float) -> float:
    return MARGIN + row * (HEIGHT + GAP_Y)
