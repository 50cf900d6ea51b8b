"""Functions that return the observed state must return it unmodified; a change is reported and ignored.

Only two protocols let a function return it: FunctionIO, and a request that is written back in JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.compose.events import OBSERVED_CHANGED
from crossply.compose.function_messages import SEVERITY_WARNING, TARGET_COMPOSITE, Response, Result
from crossply.values import Object

_MOST_SHOWN = 5
_EMPTY: tuple[Any, ...] = (None, {}, [])


def with_warning(response: Response, function: str, sent: Object, returned: Any) -> Response:
    """The response with a warning, if the function returned other observed state than it was sent.

    A function that returns nothing in its place has left it out, which is no change. The values are not
    shown: connection details are among them.
    """
    if returned in _EMPTY:
        return response
    changed = list(_changed(sent, returned, ""))
    if not changed:
        return response
    shown = ", ".join(changed[:_MOST_SHOWN])
    more = f" and {len(changed) - _MOST_SHOWN} more" if len(changed) > _MOST_SHOWN else ""
    message = f'function "{function}" changed the observed state, which is ignored: {shown}{more}'
    result = Result(SEVERITY_WARNING, message, OBSERVED_CHANGED, TARGET_COMPOSITE)
    return response._replace(results=(*response.results, result))


def _changed(sent: Any, returned: Any, path: str) -> Iterator[str]:
    """The paths of the fields that differ; a field that is absent and one that is empty are the same."""
    if sent == returned or (sent in _EMPTY and returned in _EMPTY):
        return
    if not isinstance(sent, dict) or not isinstance(returned, dict):
        yield path or "all of it"
        return
    for key in [*sent, *(key for key in returned if key not in sent)]:
        yield from _changed(sent.get(key), returned.get(key), _joined(path, str(key)))


def _joined(path: str, key: str) -> str:
    if not path:
        return key
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key}]"
