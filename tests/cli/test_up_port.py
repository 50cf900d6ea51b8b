"""The port of a control plane that another process binds between the check and the API server's start."""

from __future__ import annotations

import io
import os
import socket

import pytest

from crossply.cli.framework.command import Invocation
from crossply.cli.local_control_plane import lock as up_lock
from crossply.cli.local_control_plane.data_directory import keep_port
from crossply.cli.local_control_plane.failures import PortInUse
from crossply.cli.up.api_process import ApiProcess, ApiSettings, start_on_some_port


@pytest.mark.parametrize("is_chosen", [False, True])
async def test_a_port_that_was_just_occupied_is_replaced_unless_the_user_chose_it(tmp_path, is_chosen):
    data, stderr = str(tmp_path), io.StringIO()
    invocation = Invocation(
        "up",
        {"data": data},
        ["listen"] if is_chosen else [],
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=stderr,
        environ=os.environ,
        config={},
        config_path="",
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        used_port = other.getsockname()[1]
        keep_port(data, used_port)
        lock = up_lock.acquire(data)
        server = ApiProcess(ApiSettings(data, True, lock.descriptor), f"127.0.0.1:{used_port}")
        try:
            if is_chosen:
                with pytest.raises(PortInUse, match=f"cannot listen on 127.0.0.1:{used_port}"):
                    await start_on_some_port(invocation, data, server)
                return
            await start_on_some_port(invocation, data, server)
            assert server.port not in (0, used_port)
            assert f"the port of this control plane, {used_port}, cannot be used" in stderr.getvalue()
        finally:
            await server.stop()
            lock.release()
