"""Which revisions of a package are active, which number they have, and which one goes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.control.package_manager.revision_activation import Decision, ExistingRevision, Rules, decide

ROLLS_OUT = Rules(rolls_out=True, active_limit=2, history_limit=3)
MANUAL = ROLLS_OUT._replace(automatic=False)


def a(number, active=True, healthy=True):
    return ExistingRevision(f"r{number}", number, active, healthy)


CASES = {
    "the first revision is number one": ([], "new", Rules(), Decision(1, True)),
    "the current one stays as it is": ([a(1)], "r1", Rules(), Decision(1, True)),
    "a new one gets the next number, and the old one rests": (
        [a(1)],
        "new",
        Rules(),
        Decision(2, True, deactivate=("r1",)),
    ),
    "one that is wanted again gets a new number": (
        [a(1, active=False), a(2)],
        "r1",
        Rules(),
        Decision(3, True, deactivate=("r2",)),
    ),
    "beyond the history the oldest goes": (
        [a(1, active=False), a(2, active=False), a(3)],
        "r3",
        Rules(),
        Decision(3, True, collect="r1"),
    ),
    "but never the current one, even if it has the lowest number": (
        [a(1, active=False), a(2, active=False), a(3)],
        "r1",
        Rules(),
        Decision(4, True, deactivate=("r3",), collect="r2"),
    ),
    "no history limit keeps all": (
        [a(n, active=n == 9) for n in range(1, 10)],
        "r9",
        Rules(history_limit=0),
        Decision(9, True),
    ),
    "with manual activation a new one rests": ([], "new", Rules(automatic=False), Decision(1, False)),
    "without rollout the others rest even with manual activation": (
        [a(1)],
        "new",
        Rules(automatic=False),
        Decision(2, False, deactivate=("r1",)),
    ),
    "as many as the limit are active": (
        [a(1), a(2)],
        "new",
        ROLLS_OUT,
        Decision(3, True, deactivate=("r1",)),
    ),
    "a higher limit brings the next one back": (
        [a(1, active=False), a(2, active=False), a(3)],
        "r3",
        ROLLS_OUT,
        Decision(3, True, activate=("r2",)),
    ),
    "with manual activation users decide about all of them": (
        [a(1), a(2), a(3, active=False)],
        "r3",
        MANUAL,
        Decision(3, False),
    ),
    "the last one that was ready serves until a new one is": (
        [a(1), a(2, healthy=False)],
        "new",
        ROLLS_OUT,
        Decision(3, True),
    ),
    "one that was at rest has to show first that it runs": (
        [a(1, active=False), a(2)],
        "r1",
        ROLLS_OUT._replace(active_limit=1),
        Decision(3, True),
    ),
    "and only that one": (
        [a(1), a(2), a(3, healthy=False), a(4, healthy=False)],
        "r4",
        ROLLS_OUT,
        Decision(4, True, deactivate=("r1",)),
    ),
    "and rests once it is": (
        [a(1), a(2), a(3)],
        "r3",
        ROLLS_OUT._replace(active_limit=1),
        Decision(3, True, deactivate=("r1", "r2")),
    ),
    "one that a user keeps active is not deleted": (
        [a(1), a(2, active=False), a(3, active=False), a(4, active=False), a(5)],
        "r5",
        MANUAL,
        Decision(5, True, collect="r2"),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_revisions_are_decided_about(case):
    revisions, current, rules, expected = case
    assert decide(revisions, current, rules) == expected


@st.composite
def histories(draw):
    numbers = draw(st.lists(st.integers(1, 30), unique=True, max_size=8))
    revisions = [a(n, draw(st.booleans()), draw(st.booleans())) for n in numbers]
    current = draw(st.sampled_from([*(item.name for item in revisions), "new"]))
    active = draw(st.integers(1, 4))
    rules = Rules(draw(st.booleans()), active, draw(st.integers(active, 6)), draw(st.booleans()))
    return revisions, current, rules


def after(revisions, current, decision):
    """The revisions once the decision is carried out."""
    by_name = {item.name: item for item in revisions}
    for name in decision.activate:
        by_name[name] = by_name[name]._replace(active=True)
    for name in decision.deactivate:
        by_name[name] = by_name[name]._replace(active=False)
    by_name.pop(decision.collect, None)
    before = by_name.get(current)
    healthy = before.healthy if before is not None else False
    by_name[current] = ExistingRevision(current, decision.number, decision.active, healthy)
    return list(by_name.values())


@given(histories())
def test_executed_decisions_converge(history):
    revisions, current, rules = history
    decision = decide(revisions, current, rules)
    for _ in range(10):
        revisions = after(revisions, current, decision)
        decision = decide(revisions, current, rules)
    assert decision == Decision(max(item.number for item in revisions), decision.active)


@given(histories())
def test_the_current_revision_has_the_highest_number_and_the_active_one_is_never_deleted(history):
    revisions, current, rules = history
    decision = decide(revisions, current, rules)
    left = {item.name: item for item in after(revisions, current, decision)}
    assert max(left.values(), key=lambda item: item.number).name == current
    assert decision.collect != current
    if rules.rolls_out:
        used = {item.name for item in revisions if item.active} - set(decision.deactivate)
        assert decision.collect not in used | set(decision.activate)


@given(histories())
def test_automatically_at_most_the_limit_and_one_that_is_ready_are_active(history):
    revisions, current, rules = history
    rules, left = rules._replace(automatic=True), revisions
    for _ in range(2):
        # A revision activated just now has not yet shown that it runs.
        left = after(left, current, decide(left, current, rules))
    active = [item for item in left if item.active]
    limit = rules.active_limit if rules.rolls_out else 1
    assert len(active) <= limit + 1
    if any(item.healthy for item in sorted(left, key=lambda item: -item.number)[:limit]):
        assert len(active) <= limit
