"""The loop of `crossply up FILES --watch`: apply, show the trees, wait for a save, apply again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.file_watcher import FileStates, file_states
from crossply.cli.trace.watch import News
from crossply.cli.up.files.applier import CHANGED, CREATED, DELETED, FAILED, Applier, Outcome, is_shown
from crossply.cli.up.files.file_set import FileObject, FileSet, FilesRead, relative
from crossply.cli.up.files.live_view import View, outcome_lines
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.resource_tree.composite_tree import Trees
from crossply.resource_tree.node import Node, Reference
from crossply.resource_tree.object_reader import DEFAULT_CONCURRENCY, Reader
from crossply.resource_tree.reconciling_provider import Origins
from crossply.resource_tree.served_kinds import Kinds
from crossply.resource_tree.trace_target import TraceError

_PAUSE = 0.2


class ApplyLoop:
    """Applies the files of one command."""

    def __init__(self, invocation: Invocation, client: Client, header: str = "") -> None:
        self._invocation = invocation
        self._style = invocation.style
        self._files = FileSet(invocation["files"])
        self._applier = Applier(client)
        self._client = client
        self._header = header
        self._items: set[Reference] = set()

    async def once(self) -> bool:
        """Apply the files and print a line for each object; returns whether all went well."""
        items, problems = self._files.read()
        for problem in problems:
            self._warn(_problem_text(problem))
        waited: set[Reference] = set()

        def waiting(later: Sequence[FileObject], outcomes: Sequence[Outcome]) -> bool:
            for item in later:
                if item.reference not in waited:
                    waited.add(item.reference)
                    self._say(
                        f"waiting for {item.reference.kind} ({item.reference.api_version}) to be served"
                    )
            return True

        outcomes = await self._applier.apply(items, waiting)
        for line in outcome_lines([item for item in outcomes if item.action != FAILED], self._style):
            self._say(line)
        failures = [outcome for outcome in outcomes if outcome.action == FAILED]
        for outcome in failures:
            hint = f"; try: {outcome.hint}" if outcome.hint else ""
            self._warn(f"{outcome.item.label} at {relative(outcome.item.place)}: {outcome.problem}{hint}")
        self._say(summary(outcomes))
        return not failures and not problems

    async def watch(self) -> None:
        """Apply now and after every save, and show what comes of it, until cancelled."""
        trees = _LiveTrees(self._client)
        view = View(self._invocation, self._header)
        showing = asyncio.create_task(self._show(trees, view))
        try:
            states: FileStates | None = None
            while True:
                current = file_states(self._files.files)
                if current != states:
                    if states is not None:
                        current = await self._settled(current)
                    read = self._files.read()
                    if states is not None and file_states(self._files.files) != current:
                        continue  # saved again while it was read
                    changed = [path for path in current if not states or states.get(path) != current[path]]
                    title = _title(changed, first=states is None)
                    states = current
                    await self._save(trees, view, title, read, states)
                if showing.done():
                    showing.result()
                await asyncio.sleep(_PAUSE)
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
            await trees.close()

    async def _settled(self, current: FileStates) -> FileStates:
        """The files, once two reads in a row return the same: an editor may be writing them."""
        while True:
            await asyncio.sleep(_PAUSE)
            before, current = current, file_states(self._files.files)
            if current == before:
                return current

    async def _save(
        self, trees: _LiveTrees, view: View, title: str, read: FilesRead, states: FileStates
    ) -> None:
        view.begin(title)
        items, problems = read

        def waiting(later: Sequence[FileObject], outcomes: Sequence[Outcome]) -> bool:
            view.waiting(_awaited(later))
            self._update_roots(trees, outcomes)
            return file_states(self._files.files) == states

        outcomes = await self._applier.apply(items, waiting)
        view.waiting("")
        lines: list[str] = []
        for problem in problems:
            lines.append(self._style.sign("!", f"! {_problem_text(problem.replace(hint=''))}"))
            lines += [f"    try: {harmless(problem.hint)}"] if problem.hint else []
        view.applied([*lines, *outcome_lines(outcomes, self._style)])
        self._update_roots(trees, outcomes)
        trees.notify()

    def _update_roots(self, trees: _LiveTrees, outcomes: Sequence[Outcome]) -> None:
        """Show the trees of what was applied, unless they are shown already."""
        self._items = {outcome.item.reference for outcome in outcomes}
        references = tuple(
            outcome.item.reference
            for outcome in outcomes
            if is_shown(outcome.item.object) and outcome.action != DELETED and outcome.exists
        )
        if references != trees.references:
            trees.references = references
            trees.notify()

    async def _show(self, trees: _LiveTrees, view: View) -> None:
        while True:
            try:
                view.trees(await trees.load(), self._items)
            except CrossplyError as problem:
                view.waiting(_problem_text(problem))
            await trees.wait()

    def _say(self, line: str) -> None:
        self._invocation.stdout.write(f"{line}\n")
        self._invocation.stdout.flush()

    def _warn(self, sentence: str) -> None:
        # `up --detach` shows the warnings of the process in the background.
        self._invocation.stderr.write(f"crossply: warning: {harmless(sentence)}\n")
        self._invocation.stderr.flush()


def _title(changed: Sequence[str], first: bool) -> str:
    """`applied app.yaml, platform/functions.yaml`."""
    if not first and not changed:
        return "files were deleted"
    names = ", ".join(map(relative, changed[:3]))
    return f"applied {names}" + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")


def _awaited(items: Sequence[FileObject]) -> str:
    kinds = dict.fromkeys(f"{item.reference.kind} ({item.reference.api_version})" for item in items)
    return f"waiting for {', '.join(kinds)} to be served"


def _problem_text(problem: CrossplyError) -> str:
    place = f"{relative(problem.place)}: " if problem.place else ""
    return harmless(f"{place}{problem}" + (f"; try: {problem.hint}" if problem.hint else ""))


def summary(outcomes: Sequence[Outcome]) -> str:
    """`applied 5 objects: 3 created, 1 changed, 1 unchanged`."""
    words = [outcome.action for outcome in outcomes]
    counts = [
        f"{words.count(word)} {word}" for word in dict.fromkeys((CREATED, CHANGED, *words)) if word in words
    ]
    return f"applied {len(outcomes)} object{'' if len(outcomes) == 1 else 's'}: {', '.join(counts) or 'none'}"


class _LiveTrees:
    """The trees of what was applied, reloaded whenever something in them changes."""

    def __init__(self, client: Client) -> None:
        reader = Reader(client, Kinds(client), DEFAULT_CONCURRENCY)
        self._reader = reader
        self._trees = Trees(reader, secrets=False)
        self._origins = Origins(reader)
        self._news = News(client)
        self.references: tuple[Reference, ...] = ()

    async def load(self) -> list[Node]:
        """The trees as they are now; from now on their changes are noticed."""
        roots = [await self._reader.get(reference) for reference in self.references]
        for root in roots:
            if root.problem is None:
                await self._grow(root)
        self._news.cover(*roots)
        return roots

    async def wait(self) -> None:
        """Return soon after a change, or after a while."""
        await self._news.wait()

    def notify(self) -> None:
        """Have `wait` return: there are other roots, or something else to show."""
        self._news.notify()

    async def close(self) -> None:
        await self._news.close()

    async def _grow(self, root: Node) -> None:
        try:
            await self._trees.grow(root)
            await self._origins.add(root)
        except TraceError:
            await asyncio.sleep(0)  # the server is restarting; the next load has everything
