"""A resource tree as a table: one row a resource, with Crossplane's columns and words.

On a terminal there is one more column, the age, and statuses have symbols and colours. What programs read
stays as Crossplane prints it.
"""

from __future__ import annotations

from datetime import datetime

from crossply.cli.framework.failure_reports import align, harmless
from crossply.cli.framework.layout import branches, columns
from crossply.cli.framework.styling import PLAIN, Style
from crossply.resource_tree.image_reference import parse_tagged
from crossply.resource_tree.node import RESOURCE_NAME, Condition, Node, Trace
from crossply.resource_tree.trace_target import TraceError
from crossply.values.field_path import PathError, get_string

LONGEST_MESSAGE = 64

Row = list[str]


class Table:
    """How a table is written: with whole messages or cropped ones, with colours or plain."""

    __slots__ = ("now", "style", "wide")

    def __init__(self, wide: bool, style: Style = PLAIN, now: datetime | None = None) -> None:
        self.wide = wide
        self.style = style
        self.now = now if style.decorated else None

    def write(self, trace: Trace) -> str:
        """Write the whole table."""
        if not trace.roots:
            raise TraceError(
                "cannot print output: cannot print resource tree: resource list is empty",
                hint=trace.empty_hint,
            )
        first = trace.roots[0]
        packages = first.is_package or first.is_package_revision
        header = self._package_header() if packages else self._header()
        rows = []
        for root in trace.roots:
            for prefix, node in branches(root, lambda node: node.children):
                name = self.style.symbols(prefix) + harmless(node.label)
                rows.append(self._package_row(name, node) if packages else self._row(name, node))
        if self.style.decorated:
            lines = columns([[self.style.bold(cell) for cell in header], *map(_one_line, rows)])
            return "".join(f"{line}\n" for line in lines)
        rows.insert(0, header)
        # Crossplane ends the rows of packages with a tab, those of other resources without.
        end = "\t\n" if packages else "\n"
        return align("".join("\t".join(row) + end for row in rows))

    def _header(self) -> Row:
        return [
            "NAME",
            *(["RESOURCE"] if self.wide else ()),
            "SYNCED",
            "READY",
            *self._age_header(),
            "STATUS",
        ]

    def _package_header(self) -> Row:
        conditions = ["VERSION", "INSTALLED", "HEALTHY", "STATE"]
        return ["NAME", *(["PACKAGE"] if self.wide else ()), *conditions, *self._age_header(), "STATUS"]

    def _age_header(self) -> Row:
        return ["AGE"] if self.now else []

    def _age(self, node: Node) -> Row:
        if self.now is None:
            return []
        from crossply.apiserver.tables.human_duration import since

        created = node.metadata.get("creationTimestamp")
        return [self.style.dim(since(created, self.now) if created else "-")]

    def _row(self, name: str, node: Node) -> Row:
        annotations = node.metadata.get("annotations") or {}
        resource = [harmless(str(annotations.get(RESOURCE_NAME) or ""))] if self.wide else []
        synced, ready = node.condition("Synced"), node.condition("Ready")
        words = self._words(resource_status(node, synced, ready))
        return [name, *resource, self._status(synced), self._status(ready), *self._age(node), words]

    def _status(self, condition: Condition) -> str:
        return self.style.status(harmless(condition.status or "-"))

    def _package_row(self, name: str, node: Node) -> Row:
        installed, healthy = node.condition("Installed"), node.condition("Healthy")
        image, state = _image_and_state(node)
        parts = parse_tagged(image)
        if parts is not None:
            image = f"{parts.registry}/{parts.repository}"
        return [
            name,
            *([harmless(image)] if self.wide else ()),
            harmless(parts.tag if parts else ""),
            self._status(installed),
            self._status(healthy),
            harmless(state or "-"),
            *self._age(node),
            self._words(package_status(node, installed, healthy)),
        ]

    def _words(self, condition: Condition) -> str:
        message = condition.message
        if not self.wide:
            # A message of several lines would break the table.
            message = _cropped(" ".join(message.split()) if self.style.decorated else message)
        words = harmless(f"{condition.reason}: {message}" if message else condition.reason)
        return self.style.bad(words) if self.style.decorated and condition.reason == "Error" else words


def resource_status(node: Node, synced: Condition, ready: Condition) -> Condition:
    """The status of a resource: being deleted, its problem, or ready."""
    if node.deleting:
        return Condition(reason="Deleting")
    if node.problem:
        return Condition(reason="Error", message=node.problem.message)
    return _first_trouble(synced, ready, otherwise=ready)


def package_status(node: Node, installed: Condition, healthy: Condition) -> Condition:
    """What to say of a package, a revision or a runtime config."""
    if node.problem:
        return Condition(reason="Error", message=node.problem.message)
    if node.is_package:
        return _first_trouble(installed, healthy, otherwise=installed)
    if node.is_package_revision:
        return healthy
    return Condition() if node.is_runtime_config else Condition(reason="Unknown package type")


def _first_trouble(first: Condition, second: Condition, otherwise: Condition) -> Condition:
    """The first condition that is not true and has a reason; if both are true, the second's reason."""
    if first.status == second.status == "True":
        return second._replace(message="")
    for condition in (first, second):
        if condition.status != "True" and (condition.reason or condition.message):
            return condition
    return otherwise


def _image_and_state(node: Node) -> tuple[str, str]:
    if node.problem or not (node.is_package or node.is_package_revision):
        return "", ""
    try:
        if node.is_package:
            return get_string(node.object, "spec.package"), ""
        state = get_string(node.object, "spec.desiredState")
    except PathError as problem:
        state = str(problem)
    try:
        return (get_string(node.object, "spec.image"), state) if node.is_package_revision else ("", state)
    except PathError as problem:
        return "", str(problem)


def _cropped(message: str) -> str:
    """The end of a message, where the cause is; counted in bytes, as Go does."""
    data = message.encode(errors="surrogatepass")
    if len(data) <= LONGEST_MESSAGE:
        return message
    return "..." + data[-LONGEST_MESSAGE:].decode(errors="replace")


def _one_line(row: Row) -> Row:
    """A message of several lines would tear the table apart."""
    return [cell if "\n" not in cell and "\t" not in cell else " ".join(cell.split()) for cell in row]
