"""Where libyaml and its older port in Go disagree about unquoted scalars inside brackets.

Go's reader takes `[fe80::]` and refuses `[a?b]`; the newer libyaml does it the other way round.
"""

from __future__ import annotations

from typing import Any

from crossply.values.yaml.problems import YamlError

_STAND_IN = "\uf8fb"


def hide_colon(data: bytes, error: Any, hidden: bool) -> bytes:
    """Replace the colon that libyaml stumbled over by a stand-in; raise the error again if it is not that.

    `hidden` says that the text holds stand-ins already; otherwise it must not hold that character.
    """
    at = error.problem_mark.index
    text = _decoded(data)
    if error.problem != "found unexpected ':'" or text[at : at + 1] != ":" or (_STAND_IN in text) != hidden:
        raise error
    return f"{text[:at]}{_STAND_IN}{text[at + 1 :]}".encode()


def show_colons(text: str) -> str:
    """Put the colons back that were hidden."""
    return text.replace(_STAND_IN, ":")


def question_in_flow(data: bytes, start: Any, closing: str) -> YamlError:
    """Refuse an unquoted scalar with a question mark inside brackets, in Go's words."""
    text = _decoded(data)
    question = max(start.index, text.find("?", start.index))
    line = start.line + len(f"{text[start.index : question]}?".splitlines()) - 1
    where = f"line {line}: " if line else ""
    return YamlError(f"yaml: {where}did not find expected ',' or '{closing}'", place=str(line))


def _decoded(data: bytes) -> str:
    """Return the characters that libyaml's marks count, which leave out the byte order mark."""
    return data.decode("utf-8-sig", "replace")
