"""Loading the function of a file, for either SDK.

The file is executed, but not as the main program, so it does not start to serve. It contains one function
made by `@function`, or one class of the published SDK; `FILE:NAME` selects one of several. A file without
either may have a plain function `compose(req, rsp)`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from crossply.compose import function_messages
from crossply.sdk import shim
from crossply.sdk.compose_function import NAME as COMPOSE
from crossply.sdk.compose_function import ComposeServicer, is_compose_function
from crossply.sdk.failures import FunctionFileError
from crossply.sdk.function_decorator import Function

if TYPE_CHECKING:
    from importlib.abc import Loader

_SERVICERS = frozenset({"FunctionRunnerServiceServicer", "FunctionRunnerService"})
MODELS_LINK = "model"
"""The link to the models of kinds, in the directory of a function of an `up` project."""
_USUAL_CLASS = "FunctionRunner"
_COMPOSE = re.compile(rb"^def[ \t]+compose\b", re.MULTILINE)
_OWN_PACKAGE = re.compile(r"\b_function_\w+?_[0-9a-f]{16}(?=\.)")
"""The package that is made of a directory: its name says nothing to the author of a file."""
_RELATIVE_IMPORT = re.compile(rb"^[ \t]*from[ \t]+\.", re.MULTILINE)


class Served(Protocol):
    """A function that answers requests."""

    name: str
    log: Callable[[str], None] | None

    def run(self, request: function_messages.Request) -> function_messages.Response:
        """Answer a request of the engine in this process."""

    def answer(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request as bytes; `context` is gRPC's, where the call came by it."""


class Loaded(NamedTuple):
    """A function and its files."""

    function: Served
    files: tuple[str, ...]


def load(place: str, sdk: str = shim.AUTO) -> Loaded:
    """Load the function at `FILE` or `FILE:NAME`; `sdk` selects the SDK that `crossplane.function` is."""
    path, name = split_place(place)
    if not os.path.isfile(path):
        raise FunctionFileError(
            f"there is no file {path}",
            hint="check the path of the Python file; it is relative to the working directory",
        )
    shim.use(sdk)
    before = set(sys.modules)
    try:
        module = _run(path)
    except (Exception, SystemExit) as problem:
        _remove_modules(set(sys.modules) - before)
        raise _load_error(path, problem) from problem
    function = _find(module, path, name)
    return Loaded(function, _files(path, set(sys.modules) - before))


def unload(loaded: Loaded) -> None:
    """Remove the modules of a function, so that loading it again reads all its files."""
    files = set(loaded.files)
    _remove_modules({name for name, module in list(sys.modules.items()) if _file(module) in files})


def split_place(place: str) -> tuple[str, str]:
    """The path and the name in `FILE` or `FILE:NAME`."""
    path, colon, name = place.rpartition(":")
    if colon and name.isidentifier() and not os.path.exists(place):
        return os.path.abspath(path), name
    return os.path.abspath(place), ""


def _run(path: str) -> ModuleType:
    """Execute the file as a module of its package, or of its directory."""
    from importlib.util import module_from_spec, spec_from_file_location

    root, name = _module_name(path)
    if root not in sys.path:
        sys.path.insert(0, root)
    if "." not in name and _imports_neighbours(path):
        name = _in_a_package(root, name)
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FunctionFileError(f"{path} is not a Python file")
    if "." in name:
        __import__(name.rpartition(".")[0])
    module = module_from_spec(spec)
    sys.modules[name] = module
    _execute(module, path, spec.loader)
    return module


def _execute(module: ModuleType, path: str, loader: Loader) -> None:
    """Execute a module; one with a plain `compose` may assign booleans to fields of enums."""
    with open(path, "rb") as file:
        source = file.read()
    if not _COMPOSE.search(source) or b"crossplane" not in source:
        loader.exec_module(module)
        return
    from crossply.sdk.boolean_enum_assignments import TO_NUMBER, bool_to_number, parse_script

    module.__dict__[TO_NUMBER] = bool_to_number
    exec(compile(parse_script(source.decode(), path), path, "exec", dont_inherit=True), module.__dict__)


def _imports_neighbours(path: str) -> bool:
    """Whether a file imports others as modules of its own package, though its directory is none."""
    with open(path, "rb") as file:
        return _RELATIVE_IMPORT.search(file.read()) is not None


def _in_a_package(directory: str, name: str) -> str:
    """The name of a module in a package that is made of a directory."""
    from hashlib import sha256

    # Two functions have two packages, whatever their files are called.
    package = ModuleType(f"{name}_{sha256(directory.encode()).hexdigest()[:16]}")
    package.__path__ = [directory]
    sys.modules[package.__name__] = package
    return f"{package.__name__}.{name}"


def _module_name(path: str) -> tuple[str, str]:
    """The directory to import from and the module name, which does not clash with libraries."""
    root, file = os.path.split(path)
    names = [os.path.splitext(file)[0]]
    while os.path.isfile(os.path.join(root, "__init__.py")):
        root, package = os.path.split(root)
        names.insert(0, package)
    return root, ".".join(names) if len(names) > 1 else f"_function_{names[0]}"


def _find(module: ModuleType, path: str, name: str) -> Served:
    functions = {key: value for key, value in vars(module).items() if _is_function(value)}
    if name:
        if name not in functions:
            raise FunctionFileError(f"there is no function {name} in {path}", hint=_names_hint(functions))
        return _served(functions[name], path)
    different = list({id(value): key for key, value in reversed(functions.items())}.values())
    if _USUAL_CLASS in functions and not any(isinstance(functions[key], Function) for key in different):
        different = [_USUAL_CLASS]
    if not different and is_compose_function(vars(module).get(COMPOSE)):
        return _served(vars(module)[COMPOSE], path)
    if not different and len(runners := _runners_beside(module, path)) == 1:
        return _served(runners[0], path)
    if not different:
        raise FunctionFileError(
            f"there is no function in {path}",
            hint="mark one with crossply.sdk's @function, derive one from FunctionRunnerServiceServicer, or "
            "define compose(req, rsp)",
        )
    if len(different) > 1:
        raise FunctionFileError(f"there are several functions in {path}", hint=_names_hint(functions))
    return _served(functions[different[0]], path)


def _runners_beside(module: ModuleType, path: str) -> list[Any]:
    """The classes `FunctionRunner` of modules that a program imports from its own directories.

    The main.py of the usual template only starts the server: all it has of it is `from function import fn`.
    """
    root = _module_name(path)[0] + os.sep
    modules = [value for value in vars(module).values() if isinstance(value, ModuleType)]
    own = [value for value in modules if _is_own(_file(value), root)]
    candidates = [vars(neighbour).get(_USUAL_CLASS) for neighbour in own]
    return list({id(value): value for value in candidates if _is_function(value)}.values())


def _is_function(value: Any) -> bool:
    if isinstance(value, Function):
        return True
    return isinstance(value, type) and any(base.__name__ in _SERVICERS for base in value.__mro__[1:])


def _names_hint(functions: dict[str, Any]) -> str:
    return f"say which: FILE:NAME, of {', '.join(functions)}" if functions else ""


def _served(function: Any, path: str) -> Served:
    if isinstance(function, Function):
        return function
    from crossply.sdk.published_sdk_function import PublishedFunction

    request_class = import_module("crossplane.function.proto.v1.run_function_pb2").RunFunctionRequest
    try:
        if is_compose_function(function):
            return PublishedFunction(ComposeServicer(function), request_class, body=function)
        return PublishedFunction(function(), request_class)
    except Exception as problem:
        raise _load_error(path, problem) from problem


def _load_error(path: str, problem: BaseException) -> FunctionFileError:
    if isinstance(problem, FunctionFileError):
        return problem
    from crossply.sdk.error_response import error_text

    hint = ""
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        hint = _missing_module_hint(path, _OWN_PACKAGE.sub("", problem.name))
    if isinstance(problem, SyntaxError):
        message = f"{os.path.basename(problem.filename or path)}:{problem.lineno}: {problem.msg}"
        return FunctionFileError(f"cannot load {path}: {message}")
    text = _OWN_PACKAGE.sub("", error_text(problem, None))
    return FunctionFileError(f"cannot load {path}: {text}", hint=hint)


def _missing_module_hint(path: str, module: str) -> str:
    """What to do about a module that a file imports; its name begins with a period if it is a neighbour."""
    if not module.startswith("."):
        return f"is {module} a package that must be installed beside crossply, or a file beside this one?"
    if module == f".{MODELS_LINK}":
        return models_link_hint(os.path.dirname(path))
    if module.startswith(f".{MODELS_LINK}."):
        return "models of kinds are generated by crossply dependency update-cache"
    return f"put {module[1:].replace('.', '/')}.py beside {path}"


def models_link_hint(directory: str) -> str:
    """How to make the link to the models of kinds in the directory of a function."""
    return (
        "in a project of up, make the link to the models of kinds: ln -s ../../.up/python/models "
        f"{os.path.join(directory, MODELS_LINK)}"
    )


def _files(path: str, loaded: set[str]) -> tuple[str, ...]:
    """The files of the function: modules from its directory, not from libraries."""
    root = _module_name(path)[0] + os.sep
    files = {_file(sys.modules.get(name)) for name in loaded}
    return tuple(sorted({path, *(file for file in files if _is_own(file, root))}))


def _is_own(file: str, root: str) -> bool:
    return file.startswith(root) and "site-packages" not in file


def _file(module: Any) -> str:
    return str(getattr(module, "__file__", None) or "")


def _remove_modules(names: set[str]) -> None:
    for name in names:
        module = sys.modules.get(name)
        if module is not None and _is_library(module):
            continue
        sys.modules.pop(name, None)


def _is_library(module: Any) -> bool:
    """Libraries are not removed: many cannot be loaded twice."""
    file = _file(module)
    return not file or "site-packages" in file or file.startswith(os.path.dirname(os.__file__))
