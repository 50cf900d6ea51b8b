"""The CEL environment of admission: Kubernetes' library, CEL's extensions, and the `authorizer` variable.

`authorizer.group('apps').resource('deployments').check('get').allowed()` is a chain of calls. The evaluator
has no values of Python types, so each call extends a map. The user to authorize is in a context variable
(`asking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.endpoints.request_info import RequestInfo, User

Authorize = Callable[[User, RequestInfo], Any]
"""Decides about a request; the result has `allowed` and `reason`."""

MOST_CHECKS = 2
"""How many checks an expression can afford: each costs a little more than a third of its budget."""

_current_asker: ContextVar[_Asker | None] = ContextVar("asked", default=None)


@dataclass(slots=True)
class _Asker:
    """The user that an expression checks, and how many checks it has made."""

    authorize: Authorize
    user: User
    checks: int = 0


@contextmanager
def asking(authorize: Authorize | None, user: User) -> Iterator[None]:
    """Let expressions check what a user may do."""
    token = _current_asker.set(_Asker(authorize, user) if authorize is not None else None)
    try:
        yield
    finally:
        _current_asker.reset(token)


def authorizer_value(write: Attributes) -> dict[str, Any]:
    resource = {
        "group": write.group,
        "version": write.version,
        "resource": write.plural,
        "subresource": write.subresource,
        "namespace": write.namespace,
        "name": write.name,
    }
    return {"question": "any", "requestResource": {"question": "resource", **resource}}


def _about(kind: str, field: str) -> Callable[[dict[str, Any], str], dict[str, Any]]:
    return lambda question, text: {**question, "question": kind, field: text}


def _account(question: dict[str, Any], namespace: str, name: str) -> dict[str, Any]:
    return {**question, "account": f"{namespace}:{name}"}


def _check(question: dict[str, Any], verb: str) -> dict[str, Any]:
    asker = _current_asker.get()
    if asker is None:
        return {"allowed": False, "reason": "", "error": "no authorizer"}
    asker.checks += 1
    if asker.checks > MOST_CHECKS:
        raise ValueError("Iteration budget exceeded")
    user = asker.user
    account = question.get("account")
    if account:
        namespace = account.partition(":")[0]
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        user = User(f"system:serviceaccount:{account}", groups)
    decision = asker.authorize(user, _request(question, verb))
    return {"allowed": bool(decision.allowed), "reason": str(decision.reason), "error": ""}


def _request(question: dict[str, Any], verb: str) -> RequestInfo:
    if question["question"] == "path":
        return RequestInfo(verb, question["path"])
    fields = ("group", "version", "namespace", "resource", "name", "subresource")
    return RequestInfo(verb, "", **{field: question.get(field, "") for field in fields})


def authorizer_functions() -> list[Any]:
    """The functions in the evaluator's form."""
    from cel_expr_python import cel

    question, text = cel.Type.Map(cel.Type.STRING, cel.Type.DYN), cel.Type.STRING

    def member(name: str, arguments: int, result: Any, call: Callable[..., Any]) -> Any:
        kinds = [question, *[text] * arguments]
        overload = cel.Overload(f"k8s_authorizer_{name}", result, kinds, is_member=True, impl=call)
        return cel.FunctionDecl(name, [overload])

    return [
        member("path", 1, question, _about("path", "path")),
        member("group", 1, question, _about("group", "group")),
        member("serviceAccount", 2, question, _account),
        member("resource", 1, question, _about("resource", "resource")),
        member("subresource", 1, question, _about("resource", "subresource")),
        member("namespace", 1, question, _about("resource", "namespace")),
        member("name", 1, question, _about("resource", "name")),
        member("check", 1, question, _check),
        member("allowed", 0, cel.Type.BOOL, lambda decision: decision["allowed"]),
        member("reason", 0, text, lambda decision: decision["reason"]),
        member("errored", 0, cel.Type.BOOL, lambda decision: bool(decision["error"])),
        member("error", 0, text, lambda decision: decision["error"]),
    ]


def new_environment(variables: Mapping[str, Any], pool: Any = None) -> Any:
    """An environment with variables of these types; `pool` describes message types."""
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    from crossply.schema.cel_library import declarations

    return cel.NewEnv(
        **({"descriptor_pool": pool} if pool is not None else {}),
        variables=dict(variables),
        extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings(), ext_bindings.ExtBindings()],
        functions=[*declarations(), *authorizer_functions()],
    )
