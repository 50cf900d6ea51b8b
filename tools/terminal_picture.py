"""Write docs/images/terminal.svg: a session at the terminal, as the README shows it.

Run `python tools/terminal_picture.py`; with `--check` it only says whether the picture is up to date. The
commands are run; what takes a different time at each run is left out. The lines appear one after another.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs/images/terminal.svg")
SESSION = (
    ("examples/00-quick-start", "crossply render xr.yaml composition.yaml functions.yaml | grep ^kind"),
    ("examples/02-patch-and-transform", "crossply test"),
    ("examples/01-hello", "crossply explain CP-207 | head -n 5"),
)
_TIMES = re.compile(r" \(\d+ ms\)| in \d+\.\d+ s")
_COLOUR = re.compile(r"\x1b\[([\d;]*)m")
_FILLS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "36": "#76e3ea", "2": "#8b949e"}
_LINE, _TOP, _LEFT, _WIDTH = 20, 56, 20, 860
_TYPING, _PRINTING = 0.9, 0.04
"""Seconds until the output of a command, and until its next line."""


def picture() -> str:
    """The text of the picture's file."""
    lines = list(_lines())
    height = _TOP + _LINE * len(lines) + 12
    delay, body = 0.3, []
    for number, line in enumerate(lines):
        is_command = line.startswith("$ ")
        text = f'<tspan fill="#7ee787">$</tspan>{escape(line[1:])}' if is_command else _coloured(line)
        place = f'x="{_LEFT}" y="{_TOP + _LINE * number}"'
        body.append(f'<text {place} style="animation-delay:{delay:.2f}s" xml:space="preserve">{text}</text>')
        delay += _TYPING if is_command else _PRINTING
    dots = "".join(
        f'<circle cx="{22 + 20 * number}" cy="20" r="6" fill="{fill}"/>'
        for number, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    size = f'viewBox="0 0 {_WIDTH} {height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{_label()}">
<style>
text {{ font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #e6edf3; }}
text {{ opacity: 0; animation: show .01s forwards; }}
@keyframes show {{ to {{ opacity: 1; }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ animation-delay: 0s !important; }} }}
</style>
<rect width="{_WIDTH}" height="{height}" rx="10" fill="#0d1117"/>{dots}
{chr(10).join(body)}
</svg>
"""


def _label() -> str:
    return escape("A terminal: " + "; ".join(command for _, command in SESSION), {'"': "&quot;"})


def _lines() -> Iterator[str]:
    for folder, command in SESSION:
        yield f"$ {command}"
        yield from _output(folder, command)
        yield ""


def _output(folder: str, command: str) -> list[str]:
    own = os.path.dirname(sys.executable)
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100", "PATH": f"{own}:{os.environ['PATH']}"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=os.path.join(ROOT, folder),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return _TIMES.sub("", done.stdout + done.stderr).rstrip("\n").split("\n")


def _coloured(line: str) -> str:
    """A line of output with the colours of its escape sequences as spans."""
    spans, fill = [], ""
    for index, part in enumerate(_COLOUR.split(line)):
        if index % 2:
            fill = next((_FILLS[code] for code in part.split(";") if code in _FILLS), "")
        elif part:
            spans.append(f'<tspan fill="{fill}">{escape(part)}</tspan>' if fill else escape(part))
    return "".join(spans)


def main(arguments: list[str]) -> int:
    text = picture()
    if "--check" in arguments:
        with open(PICTURE, encoding="utf-8") as file:
            return 0 if file.read() == text else 1
    with open(PICTURE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
