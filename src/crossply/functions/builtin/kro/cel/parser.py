"""Parse expressions: by recursive descent, one method for each level of precedence.

cel-expr-python's parser stops at 32 operators in a row, and templates with many expressions have more.
"""

from __future__ import annotations

from crossply.functions.builtin.kro.cel.macros import expanded
from crossply.functions.builtin.kro.cel.parse_issues import issues_of
from crossply.functions.builtin.kro.cel.syntax_tree import (
    Call,
    Constant,
    Entry,
    ExpressionError,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
    Source,
    StructLiteral,
    Tree,
)
from crossply.functions.builtin.kro.cel.tokens import LITERALS, Malformed, Token, literal_value, tokens_of
from crossply.schema.cel_types import RESERVED

MOST_NESTING = 250
"""How deep brackets may nest, and how many operators may be one inside of the other."""

_RELATIONS = frozenset(("<", "<=", ">=", ">", "==", "!=", "in"))
_FUNCTIONS = {"in": "@in"}


def parse(text: str) -> Tree:
    """Parse an expression; raises ExpressionError."""
    source = Source(text)
    try:
        return Tree(_Parser(tokens_of(text), source).expression_alone(), source)
    except Malformed as error:
        raise ExpressionError(issues_of(text, source, error)) from None


class _Parser:
    def __init__(self, tokens: list[Token], source: Source) -> None:
        self._tokens = tokens
        self._at = 0
        self._source = source
        self._depth = 0
        self._levels: dict[int, int] = {}
        """How many operators are inside of a node, one inside of the other."""

    def expression_alone(self) -> Node:
        node = self._expression()
        self._take("end")
        return node

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, kind: str) -> Token:
        token = self._next
        if token.kind != kind:
            raise Malformed(token.position)
        self._at += 1
        return token

    def _accept(self, kind: str) -> Token | None:
        return self._take(kind) if self._next.kind == kind else None

    def _id(self, token: Token) -> int:
        return self._source.new_id(token.position)

    def _nested(self, node: Node, *parts: Node, level: int = 1) -> Node:
        """A node of some parts; raises Malformed where it is too deep."""
        level += max((self._levels.get(part.id, 0) for part in parts), default=0)
        if level > MOST_NESTING:
            raise Malformed(-1, "max recursion depth exceeded")
        self._levels[node.id] = level
        return node

    def _operation(self, operator: Token, function: str, *operands: Node) -> Node:
        return self._nested(Call(self._id(operator), function, None, operands), *operands)

    # Operators

    def _expression(self) -> Node:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise Malformed(-1, f"expression recursion limit exceeded: {MOST_NESTING}")
        node = self._logical("||")
        question = self._accept("?")
        if question is not None:
            then = self._logical("||")
            self._take(":")
            node = self._operation(question, "_?_:_", node, then, self._expression())
        self._depth -= 1
        return node

    def _logical(self, sign: str) -> Node:
        terms = [self._operand(sign)]
        operators = []
        while operator := self._accept(sign):
            terms.append(self._operand(sign))
            operators.append(self._id(operator))
        return self._nested(_balanced(f"_{sign}_", terms, operators), *terms, level=0)

    def _operand(self, sign: str) -> Node:
        return self._logical("&&") if sign == "||" else self._relation()

    def _relation(self) -> Node:
        node = self._sum()
        while self._next.kind in _RELATIONS:
            operator = self._take(self._next.kind)
            function = _FUNCTIONS.get(operator.kind, f"_{operator.kind}_")
            node = self._operation(operator, function, node, self._sum())
        return node

    def _sum(self) -> Node:
        node = self._product()
        while self._next.kind in ("+", "-"):
            operator = self._take(self._next.kind)
            node = self._operation(operator, f"_{operator.kind}_", node, self._product())
        return node

    def _product(self) -> Node:
        node = self._unary()
        while self._next.kind in ("*", "/", "%"):
            operator = self._take(self._next.kind)
            node = self._operation(operator, f"_{operator.kind}_", node, self._unary())
        return node

    def _unary(self) -> Node:
        first = self._next
        if first.kind not in ("!", "-"):
            return self._member()
        count = 0
        while self._accept(first.kind):
            count += 1
        # A minus right before a number belongs to it, as in -9223372036854775808.
        if first.kind == "-" and self._next.kind in ("int", "float"):
            number = self._tokens[self._at - 1]
            self._at -= 1
            count -= 1
            member = self._member(number)
        else:
            member = self._member()
        if count % 2 == 0:
            return member
        return self._nested(Call(self._id(first), f"{first.kind}_", None, (member,)), member, level=0)

    # Members

    def _member(self, minus: Token | None = None) -> Node:
        node = self._negative_literal(minus) if minus else self._primary()
        while True:
            if dot := self._accept("."):
                node = self._dotted(node, dot)
            elif bracket := self._accept("["):
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = self._expression()
                self._take("]")
                node = self._operation(bracket, function, node, index)
            else:
                return node

    def _negative_literal(self, minus: Token) -> Node:
        self._take("-")
        token = self._take(self._next.kind)
        return Constant(self._id(minus), literal_value(token, is_negative=True))

    def _dotted(self, target: Node, dot: Token) -> Node:
        is_optional = self._accept("?") is not None
        name = self._next
        if name.kind == "quoted":
            self._at += 1
            field = name.text[1:-1]
        else:
            field = self._take("name").text
            bracket = self._accept("(") if not is_optional else None
            if bracket is not None:
                arguments = self._arguments()
                call = Call(self._id(bracket), field, target, arguments)
                return self._nested(expanded(call, self._source), target, *arguments)
        if is_optional:
            return self._operation(dot, "_?._", target, Constant(self._id(name), field))
        return self._nested(Select(self._id(dot), target, field), target)

    def _arguments(self) -> tuple[Node, ...]:
        arguments: list[Node] = []
        while not self._accept(")"):
            if arguments:
                self._take(",")
            arguments.append(self._expression())
        return tuple(arguments)

    # Primaries

    def _primary(self) -> Node:
        token = self._next
        if token.kind in LITERALS:
            self._at += 1
            return Constant(self._id(token), literal_value(token))
        if self._accept("("):
            node = self._expression()
            self._take(")")
            return node
        if token.kind == "[":
            return self._list(self._take("["))
        if token.kind == "{":
            bracket = self._take("{")
            return self._map(MapLiteral(self._id(bracket), self._entries(is_struct=False)))
        return self._named()

    def _named(self) -> Node:
        prefix = "." if self._accept(".") else ""
        token = self._take("name")
        if bracket := self._accept("("):
            arguments = self._arguments()
            call = Call(self._id(bracket), prefix + token.text, None, arguments)
            return self._nested(expanded(call, self._source), *arguments, level=0)
        struct = self._struct(prefix + token.text)
        if struct is not None:
            return struct
        if RESERVED.fullmatch(token.text):
            raise Malformed(token.position, f"reserved identifier: {token.text}")
        return Identifier(self._id(token), prefix + token.text)

    def _struct(self, name: str) -> Node | None:
        """An object of a type, `a.b.Type{field: value}`, if this is one."""
        start = self._at
        while self._next.kind == "." and self._tokens[self._at + 1].kind == "name":
            name += "." + self._tokens[self._at + 1].text
            self._at += 2
        bracket = self._accept("{")
        if bracket is None:
            self._at = start
            return None
        return self._map(StructLiteral(self._id(bracket), name, self._entries(is_struct=True)))

    def _map(self, node: MapLiteral | StructLiteral) -> Node:
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
        return self._nested(node, *(part for part in parts if not isinstance(part, str)), level=0)

    def _list(self, bracket: Token) -> Node:
        node_id = self._id(bracket)
        elements: list[Node] = []
        optional = set()
        while not self._accept("]"):
            if elements:
                self._take(",")
                if self._accept("]"):
                    break
            if self._accept("?"):
                optional.add(len(elements))
            elements.append(self._expression())
        return self._nested(ListLiteral(node_id, tuple(elements), frozenset(optional)), *elements, level=0)

    def _entries(self, is_struct: bool) -> tuple[Entry, ...]:
        entries: list[Entry] = []
        while not self._accept("}"):
            if entries:
                self._take(",")
                if self._accept("}"):
                    break
            is_optional = self._accept("?") is not None
            key: Node | str = self._take("name").text if is_struct else self._expression()
            colon = self._take(":")
            entries.append(Entry(self._id(colon), key, self._expression(), is_optional))
        return tuple(entries)


def _balanced(function: str, terms: list[Node], operators: list[int]) -> Node:
    """Terms with an operator between each two, as a tree that is not deeper than it must be."""
    if not operators:
        return terms[0]
    middle = len(operators) // 2
    left = _balanced(function, terms[: middle + 1], operators[:middle])
    right = _balanced(function, terms[middle + 1 :], operators[middle + 1 :])
    return Call(operators[middle], function, None, (left, right))
