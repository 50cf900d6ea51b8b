"""The status fields that only legacy composite resources have: they concern the claim and its secret."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.events import StatusCondition
from crossply.values import Object


def engine_status(live: Object, conditions: Iterable[StatusCondition], published: str = "") -> Object:
    """When details were published last, and which conditions a claim copies: the latter only ever grow."""
    kept: Object = {key: live[key] for key in ("connectionDetails", "claimConditionTypes") if key in live}
    if published:
        kept["connectionDetails"] = {"lastPublishedTime": published}
    types = list(kept.get("claimConditionTypes") or ())
    for each in conditions:
        if each.for_claim and each.type not in types:
            types.append(each.type)
    return {**kept, "claimConditionTypes": types} if types else kept
