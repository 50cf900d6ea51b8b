"""Limits of the programs of users and of their workers: time, memory, sizes and numbers."""

from __future__ import annotations

SECONDS = 10.0
"""How long a call may take. The worker then stops the program and reports its line."""

GRACE = 1.0
"""How many seconds later the parent kills the worker."""

START_SECONDS = 30.0
"""How long a new worker may take to start on a busy machine."""

MEMORY = 256 << 20
"""How many bytes of memory a program may use in addition to its interpreter."""

MAX_PROGRAM = 2 << 20
"""The largest program in bytes; API servers store less."""

MAX_REPLY = 16 << 20
"""The largest answer in bytes."""

MAX_MESSAGE = 4 << 10
"""The longest error message in characters."""

MAX_WORKERS = 32
"""The most workers of one language, busy and idle together."""

RETIRE_AT = MEMORY // 2
"""A worker that has used this much exits after its reply: interpreters keep some memory of each call."""
