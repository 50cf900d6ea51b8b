"""A script as a tree of Python's parser, without what Starlark does not have.

The syntax of Starlark is a part of Python's. What Python accepts beyond it is refused here.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings

from crossply.functions.builtin.starlark.language.failures import CompileError

LOAD = "load"
_STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.FunctionDef, ast.If),
    *(ast.Pass, ast.Return, ast.While, ast.Module),
)
_EXPRESSIONS = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp),
    *(ast.IfExp, ast.Lambda, ast.List, ast.ListComp, ast.Name, ast.Slice, ast.Starred, ast.Subscript),
    *(ast.Tuple, ast.UnaryOp, ast.arg, ast.arguments, ast.comprehension, ast.keyword),
)
_OPERATORS = (
    *(ast.Add, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Div, ast.FloorDiv, ast.LShift, ast.Mod, ast.Mult),
    *(ast.RShift, ast.Sub, ast.And, ast.Or, ast.Invert, ast.Not, ast.UAdd, ast.USub, ast.Eq, ast.NotEq),
    *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Load, ast.Store),
)
_KNOWN = frozenset((*_STATEMENTS, *_EXPRESSIONS, *_OPERATORS))
_INVALID_ESCAPE = re.compile(r"\\([^abfnrtvxuU0-7\\'\"\n\r])")
_ESCAPES = re.compile(r"\\(?:.|\n)", re.DOTALL)


class Source:
    """The text of a script. Columns of Python are bytes from zero, those of messages characters from one."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._lines = [line.encode("utf-8", "surrogateescape") for line in text.split("\n")]

    def place(self, line: int, column: int) -> str:
        """`file:line:column` of a position of Python."""
        data = self._lines[line - 1] if 0 < line <= len(self._lines) else b""
        return f"{self.name}:{line}:{len(data[:column].decode('utf-8', 'replace')) + 1}"

    def find(self, line: int, column: int, mark: str) -> tuple[int, int]:
        """The position of a mark behind another position; comments do not count."""
        pattern = mark.encode()
        while line <= len(self._lines):
            data = self._lines[line - 1]
            comment = data.find(b"#", column)
            index = data.find(pattern, column, comment if comment >= 0 else len(data))
            if index >= 0:
                return line, index
            line, column = line + 1, 0
        return line - 1, 0

    def refuse(self, node: ast.AST, message: str) -> CompileError:
        return CompileError(self.place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0)), message)


def parse(source: Source) -> ast.Module:
    """The tree of a script; raises CompileError."""
    text = source.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, source.name)
    except SyntaxError as error:
        line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
        raise CompileError(f"{source.name}:{line}:{column + 1}", error.msg) from None
    except ValueError as error:  # null bytes
        raise CompileError(f"{source.name}:1:1", str(error)) from None
    except (MemoryError, RecursionError):
        raise CompileError(f"{source.name}:1:1", "script is too large, or nests too deep") from None
    _check_tokens(source)
    _check_nodes(source, tree)
    return tree


def _check_tokens(source: Source) -> None:
    before = None
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        kind, line, column = token.type, *token.start
        if kind in (tokenize.NL, tokenize.COMMENT):
            continue
        place = f"{source.name}:{line}:{column + 1}"
        if kind == tokenize.STRING:
            if before == tokenize.STRING:
                raise CompileError(place, "got string literal, want newline")
            _check_escapes(place, token.string)
        elif kind == tokenize.NUMBER and "_" in token.string:
            raise CompileError(place, f"invalid number: {token.string}")
        before = kind


def _check_escapes(place: str, literal: str) -> None:
    prefix = literal[: literal.index(literal[-1])].lower()
    if "r" in prefix:
        return
    for escape in _ESCAPES.findall(literal):
        if _INVALID_ESCAPE.match(escape):
            raise CompileError(place, f"invalid escape sequence {escape}")


def _check_nodes(source: Source, tree: ast.Module) -> None:
    called_load = {
        id(statement.value.func)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    }
    starred = {
        id(argument) for node in ast.walk(tree) if isinstance(node, ast.Call) for argument in node.args
    }
    for node in ast.walk(tree):
        if type(node) not in _KNOWN:
            raise source.refuse(node, f"{_description(node)} is not part of Starlark")
        _check_chains(source, node)
        problem = _node_problem(node)
        if problem:
            raise source.refuse(node, problem)
        if isinstance(node, ast.Name) and node.id == LOAD and id(node) not in called_load:
            raise source.refuse(node, "got load, want primary expression")
        if isinstance(node, ast.Starred) and id(node) not in starred:
            raise source.refuse(node, "got '*', want primary expression")


def _check_chains(source: Source, node: ast.AST) -> None:
    """Refuse `a < b < c`, `a = b = c`, and arguments in an order that Python allows."""
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        first, second = (_SYMBOLS.get(type(operator), "in") for operator in node.ops[:2])
        operand = node.comparators[0]
        line, column = source.find(operand.end_lineno or 1, operand.end_col_offset or 0, second)
        raise CompileError(
            source.place(line, column), f"{second} does not associate with {first} (use parens)"
        )
    if isinstance(node, ast.Assign) and len(node.targets) > 1:
        target = node.targets[1]
        line, column = source.find(target.end_lineno or 1, target.end_col_offset or 0, "=")
        raise CompileError(source.place(line, column + 1), "got '=', want newline")
    if isinstance(node, ast.Call):
        stars = [argument for argument in node.args if isinstance(argument, ast.Starred)]
        for keyword in node.keywords:
            if (
                keyword.arg
                and stars
                and (keyword.lineno, keyword.col_offset) > (stars[0].lineno, stars[0].col_offset)
            ):
                raise source.refuse(keyword, "keyword argument may not follow *args")


_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.NotIn: "not",
}


def _node_problem(node: ast.AST) -> str:
    """What is wrong with a node that Starlark has in another form."""
    if isinstance(node, ast.For | ast.While) and node.orelse:
        return "got else, want newline"
    if isinstance(node, ast.FunctionDef) and (node.decorator_list or node.returns):
        return "decorators and annotations are not part of Starlark"
    if isinstance(node, ast.arg) and node.annotation:
        return "annotations are not part of Starlark"
    if isinstance(node, ast.arguments) and node.posonlyargs:
        return "positional-only parameters are not part of Starlark"
    if isinstance(node, ast.Constant) and isinstance(node.value, complex | type(...)):
        return "invalid literal"
    if isinstance(node, ast.Constant) and node.value == float("inf"):
        return "invalid float literal"
    if isinstance(node, ast.Dict) and None in node.keys:
        return "got '**', want primary expression"
    if isinstance(node, ast.comprehension) and node.is_async:
        return "async is not part of Starlark"
    return ""


def _description(node: ast.AST) -> str:
    names = {"JoinedStr": "an f-string", "GeneratorExp": "a generator expression", "ClassDef": "a class"}
    return names.get(type(node).__name__, type(node).__name__.lower())
