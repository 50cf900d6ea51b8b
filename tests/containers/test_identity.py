"""The user IDs of containers: never root outside."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crossply.containers.user_namespace import UNPRIVILEGED, Identity, IdMap, map_for, own_identity

SHOW = """
import os, sys
from crossply.containers.user_namespace import own_identity
from crossply.containers.launcher import syscalls as kernel
own_identity()  # whoever we become may not read the library
ready, told = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    kernel.unshare(kernel.NEW_USER)
    os.write(ready[1], b"1")
    os.read(told[0], 1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    print(tuple(own_identity()))
    sys.stdout.flush()
    os._exit(0)
os.read(ready[0], 1)
for kind in ("uid", "gid"):
    open(f"/proc/{child}/{kind}_map", "w").write(f"0 100000 {sys.argv[1]}")
os.write(told[1], b"1")
os.wait()
"""


@pytest.mark.parametrize(
    ("count", "identity", "reason"),
    [
        (65536, (((0, 0, 1), (1, 65534, 2)), 1, 65534, 2), "in a container of a user: the last there are"),
        (1, (((0, 0, 1),), 0, 0, None), "root alone, who is an ordinary user outside"),
    ],
)
@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to give identities away")
def test_root_of_a_container_lends_the_ids_it_has(
    count: int, identity: tuple[object, ...], reason: str
) -> None:
    done = subprocess.run([sys.executable, "-c", SHOW, str(count)], capture_output=True, text=True)
    assert done.stdout.strip() == repr(identity), done.stderr or reason


def test_root_of_the_machine_gives_one_that_owns_nothing() -> None:
    identity = own_identity()
    assert identity.owner_outside == (UNPRIVILEGED if os.geteuid() == 0 else os.geteuid())


ROOT = Identity(((0, 0, 1), (1, UNPRIVILEGED, 2)), 1, UNPRIVILEGED, 2)
LENT = Identity(((0, 1000, 1), (1, 300000, 1)), 0, 1000, 1)
ALONE = Identity(((0, 1000, 1),), 0, 1000, None)


@pytest.mark.parametrize(
    ("identity", "user", "group", "expected"),
    [
        (ROOT, 65532, 65532, IdMap(65532, 65532, ((0, 2), (65532, 1)), ((0, 2), (65532, 1)))),
        (ROOT, 0, 0, IdMap(0, 0, ((0, 1),), ((0, 1),))),
        (ROOT, 1000, 0, IdMap(1000, 0, ((0, 2), (1000, 1)), ((0, 1),))),
        (LENT, 65532, 0, IdMap(65532, 0, ((0, 1), (65532, 0)), ((0, 0),))),
        (ALONE, 65532, 65532, IdMap(0, 0, ((0, 0),), ((0, 0),))),
    ],
)
def test_the_function_runs_as_the_owner_of_its_files(
    identity: Identity, user: int, group: int, expected: IdMap
) -> None:
    assert map_for(identity, user, group) == expected
    assert 0 not in {outside for _, outside in expected.users} or identity.owner == 0
