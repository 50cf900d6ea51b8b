"""Composing on behalf of a service account, so that RBAC limits what a kind can be made of.

A definition may name one. Then everything that its composite resources are composed of, and all that is read
for it, is asked for in the name of that account; the controllers keep only the books as themselves: the
composite resource, its conditions and its events. So whoever may write Compositions for the kind gets no
further than the account does.
"""

from __future__ import annotations

from dataclasses import replace

from crossply.control.controller_context import Plane
from crossply.control.rbac_grant_commands import NOTHING_COMPOSED, Composed, explained
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition


def composing(plane: Plane, definition: Definition) -> Plane:
    """The plane as the service account of a definition has it; the same where none is named."""
    account = definition.service_account
    if account is None:
        return plane
    return replace(plane, as_composer=plane.as_controller.acting_as(account.user))


def explain_refusal(
    problem: CrossplyError,
    definition: Definition,
    composed: Composed = NOTHING_COMPOSED,
) -> CrossplyError:
    """The problem, and where it is a refusal, how to allow what was refused."""
    account = definition.service_account
    user = account.user if account is not None else ""
    return problem.replace(message=explained(str(problem), problem, user, composed))
