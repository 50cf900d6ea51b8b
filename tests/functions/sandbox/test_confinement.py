"""The filter of system calls, run as the kernel would run it."""

from __future__ import annotations

import struct

import pytest

from crossply.functions.builtin.sandbox.confinement import filter_program
from crossply.functions.builtin.sandbox.system_call_numbers import FIRST_VIRTUAL_DESCRIPTOR, SYSTEM_CALLS

ALLOWED, REFUSED, TRAPPED = 0x7FFF0000, 0x00050001, 0x00030000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {"read": 0, "exit_group": 231, "open": 2, "socket": 41, "clone": 56, "execve": 59, "kill": 62},
    "aarch64": {"read": 63, "exit_group": 94, "openat": 56, "socket": 198, "clone": 220, "kill": 129},
}


def filter_action(machine: str, number: int, architecture: int, descriptor: int | None = None) -> int:
    """What the filter returns for a call; with a descriptor, what the one for virtual files returns."""
    program = filter_program(machine, traps_files=descriptor is not None)
    assert program is not None
    instructions = list(struct.iter_unpack("=HBBI", program))
    memory = {0: number, 4: architecture, 16: descriptor or 0}
    value = at = 0
    while True:
        code, if_true, if_false, operand = instructions[at]
        at += 1
        if code == 0x20:
            value = memory[operand]
        elif code == 0x15:
            at += if_true if value == operand else if_false
        elif code == 0x35:
            at += if_true if value >= operand else if_false
        else:
            assert code == 0x06
            return int(operand)


@pytest.mark.parametrize("machine", sorted(CALLS))
def test_only_system_calls_for_computing_are_allowed(machine: str) -> None:
    for name, number in CALLS[machine].items():
        expected = ALLOWED if name in ("read", "exit_group") else REFUSED
        assert filter_action(machine, number, ARCHITECTURES[machine]) == expected, name
    allowed = [n for n in range(1000) if filter_action(machine, n, ARCHITECTURES[machine]) == ALLOWED]
    assert len(allowed) <= 31


@pytest.mark.parametrize("machine", sorted(CALLS))
def test_other_tables_of_calls_are_refused(machine: str) -> None:
    """A number means another call to a 32-bit program, and from 0x40000000 on."""
    assert filter_action(machine, CALLS[machine]["read"], 0x40000003) == REFUSED
    assert filter_action(machine, 0x40000000 + CALLS[machine]["read"], ARCHITECTURES[machine]) == REFUSED
    assert filter_action(machine, 0xFFFFFFFF, ARCHITECTURES[machine]) == REFUSED


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    assert filter_program("riscv64") is None


@pytest.mark.parametrize("machine", sorted(CALLS))
def test_with_virtual_files_calls_on_paths_and_on_virtual_descriptors_are_trapped(machine: str) -> None:
    calls = SYSTEM_CALLS[machine]
    for number in range(1000):
        plain = filter_action(machine, number, calls.architecture)
        opened = filter_action(machine, number, calls.architecture, 3)
        virtual = filter_action(machine, number, calls.architecture, FIRST_VIRTUAL_DESCRIPTOR)
        if number in calls.on_paths.values():
            assert (plain, opened, virtual) == (REFUSED, TRAPPED, TRAPPED)
        elif number in calls.on_descriptors.values():
            assert (plain, opened, virtual) == (ALLOWED, ALLOWED, TRAPPED)
        else:
            assert plain == opened == virtual
