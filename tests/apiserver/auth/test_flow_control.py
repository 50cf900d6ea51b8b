"""How much of a limit each user may reservation."""

from __future__ import annotations

import pytest

from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.http.flow_control import (
    EXEMPT,
    SYSTEM,
    WORKLOAD,
    FairBudget,
    Flow,
    Reservation,
    flow_of,
)


def _fill(budget: FairBudget, flow: Flow) -> int:
    """How much a flow gets, one at a time, until it is refused."""
    used = 0
    while budget.take(flow, 1):
        used += 1
    return used


def test_a_user_alone_gets_a_third_of_the_share_of_ordinary_users() -> None:
    assert _fill(FairBudget(600), Flow("a", WORKLOAD)) == 150


def test_after_a_dozen_greedy_users_the_next_one_still_gets_a_share() -> None:
    budget = FairBudget(600)
    assert all(_fill(budget, Flow(f"user-{number}", WORKLOAD)) >= 1 for number in range(13))


def test_ordinary_users_leave_room_for_the_system_and_both_for_administrators() -> None:
    budget = FairBudget(600)
    while any(budget.take(Flow(f"user-{number}", WORKLOAD), 1) for number in range(600)):
        pass
    assert not budget.take(Flow("one more", WORKLOAD), 1)
    assert _fill(budget, Flow("system:kube-scheduler", SYSTEM)) == 38
    assert _fill(budget, Flow("admin", EXEMPT)) == 600 - 450 - 38


def test_a_released_reservation_can_be_reserved_once_more() -> None:
    budget = FairBudget(8)
    flow = Flow("a", WORKLOAD)
    reservation = Reservation(budget, flow)
    assert reservation.take(5)
    assert not reservation.take(1)
    reservation.release()
    assert reservation.amount == 0
    assert Reservation(budget, flow).take(6), "a flow that holds nothing gets all that is free"


def test_the_smallest_limit_lets_everybody_have_one() -> None:
    for level in (WORKLOAD, SYSTEM, EXEMPT):
        assert _fill(FairBudget(1), Flow("a", level)) == 1


@pytest.mark.parametrize(
    ("user", "level"),
    [
        pytest.param(User("admin", ("system:masters",)), EXEMPT, id="administrators"),
        pytest.param(User("system:kube-controller-manager"), SYSTEM, id="Kubernetes' components"),
        pytest.param(
            User("system:serviceaccount:kube-system:x", ("system:serviceaccounts:kube-system",)),
            SYSTEM,
            id="accounts of kube-system",
        ),
        pytest.param(
            User("system:serviceaccount:default:x", ("system:serviceaccounts:default",)),
            WORKLOAD,
            id="other accounts",
        ),
        pytest.param(User("alice", ("system:authenticated",)), WORKLOAD, id="people"),
    ],
)
def test_the_level_of_a_user_follows_from_name_and_groups(user: User, level: object) -> None:
    assert flow_of(user).level is level
