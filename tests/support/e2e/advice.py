"""Runs the commands in a condition, unchanged, in a shell with the real kubectl."""

from __future__ import annotations

import asyncio
import os
import tempfile

from crossply.values.yaml import dump
from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.scenario import Scenario
from tests.support.programs import require

_BEFORE = "to grant it: "


def commands_in(message: str) -> str:
    """The commands that a message ends with."""
    commands = message.partition(_BEFORE)[2]
    assert commands, f"no commands in {message!r}"
    return commands


def roles_in(message: str) -> list[str]:
    """The names of the roles that the commands make, each once."""
    words = [command.split() for command in commands_in(message).split(" && ")]
    return [
        command[3] for command in words if command[1] == "create" and command[2] in ("clusterrole", "role")
    ]


async def run_advised_commands(s: Scenario, message: str) -> str:
    """Run the commands, and give what they print."""
    require("kubectl")
    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = os.path.join(directory, "kubeconfig")
        with open(kubeconfig, "w") as file:
            file.write(dump(await kubeconfig_for(s.client.config)))
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-o",
            "pipefail",
            "-ec",
            commands_in(message),
            env={**os.environ, "KUBECONFIG": kubeconfig, "HOME": directory},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output
