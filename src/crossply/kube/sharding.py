"""Which replica does what: keys fall into shards, and shards to members, by hashing alone.

Every member gets about as many shards as every other; when one comes or goes, only the shards that it gains
or loses move (rendezvous hashing: of all members the one with the highest score for a shard has it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection


def shard_of(key: str, count: int) -> int:
    """The shard that a key falls into."""
    return _score(key) % count


def member_of(shard: int, members: Collection[str]) -> str:
    """The member that should have a shard; empty where there are no members."""
    return max(members, key=lambda member: (_score(f"{shard}/{member}"), member), default="")


def _score(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
