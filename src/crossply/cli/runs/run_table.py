"""Runs as a table: when, of what, why, how long, what changed, and how each ended."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.layout import columns
from crossply.cli.framework.styling import Style
from crossply.runs.model import COMPOSED, FAILED, RunSummary, Subject

LONGEST_CELL = 60


class RunTable:
    """Writes runs; `now` is in seconds since 1970."""

    def __init__(self, style: Style, now: float, wide: bool, subjects: bool) -> None:
        self._style = style
        self._now = now
        self._wide = wide
        self._subjects = subjects
        """Whether runs of several objects are listed, so that each says of which it is."""

    def lines(self, runs: Iterable[RunSummary]) -> list[str]:
        return columns([self._header(), *(self._row(run) for run in runs)])

    def _header(self) -> list[str]:
        subject = ["XR"] if self._subjects else []
        more = ["REVISION", "STEPS", "REPLICA"] if self._wide else []
        return ["RUN", "AGE", *subject, "WHY", "TOOK", "SAME SINCE", *more, "OUTCOME", "CHANGED"]

    def _row(self, run: RunSummary) -> list[str]:
        from crossply.apiserver.tables.human_duration import human_duration

        subject = [harmless(subject_text(run.subject))] if self._subjects else []
        more = [run.revision or "-", str(run.steps), run.replica or "-"] if self._wide else []
        return [
            self._style.accent(run.id),
            human_duration(self._now - run.started),
            *subject,
            self._joined(run.triggers),
            duration_text(run.seconds),
            str(run.repeats) if run.repeats else "-",
            *map(harmless, more),
            outcome_text(self._style, run),
            self._joined(run.changes) if not run.problem else self._cropped(run.problem),
        ]

    def _joined(self, phrases: tuple[str, ...]) -> str:
        if not phrases:
            return "-"
        if self._wide or len(phrases) == 1:
            return self._cropped("; ".join(phrases))
        return f"{self._cropped(phrases[0])} (+{len(phrases) - 1})"

    def _cropped(self, text: str) -> str:
        text = harmless(text).replace("\n", " ")
        if self._wide or len(text) <= LONGEST_CELL:
            return text
        return text[: LONGEST_CELL - 1] + "…"


def outcome_text(style: Style, run: RunSummary) -> str:
    """How a run ended, with its symbol and the code of its problem."""
    text = run.outcome if not run.code else f"{run.outcome} {run.code}"
    if not style.decorated:
        return text
    if run.outcome == COMPOSED:
        return style.good(f"✓ {text}")
    return style.bad(f"✗ {text}") if run.outcome == FAILED else style.warn(f"○ {text}")


def subject_text(subject: Subject) -> str:
    """`KIND/NAME`, and the namespace where there is one."""
    place = f" -n {subject.namespace}" if subject.namespace else ""
    return f"{subject.kind}/{subject.name}{place}"


def duration_text(seconds: float) -> str:
    """A duration with two or three digits."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.01:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
