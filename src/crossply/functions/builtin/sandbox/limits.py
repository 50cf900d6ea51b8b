"""How much one call of a user's program may take, and the bytes that parents and workers agree on."""

from __future__ import annotations

SECONDS = 10.0
"""How long a call may take. The worker ends the program by then, and says where it was."""

GRACE = 1.0
"""How much longer the parent waits before it kills the worker."""

START_SECONDS = 30.0
"""How long a new worker may take until it is ready, on a busy machine."""

MEMORY = 256 << 20
"""How many bytes of memory a program may have beside what its interpreter needs."""

LONGEST_PROGRAM = 2 << 20
"""How long a program may be, in bytes; more than an API server would store."""

LONGEST_REPLY = 16 << 20
"""How long an answer may be, in bytes."""

LONGEST_MESSAGE = 4 << 10
"""How much of an error is told, in characters."""

MOST_WORKERS = 32
"""How many workers there are at most for one language, busy and idle ones together."""

ANSWER, COMPLAINT = b"=", b"!"
"""How a worker's reply begins."""

START, KILL = b"S", b"K"
"""How an order to a nursery begins."""
