"""The options that every function takes, for Click, and a way to serve with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from . import logging, runtime

DEFAULT_ADDRESS = "0.0.0.0:9443"
DEFAULT_MAX_RECV_MESSAGE_SIZE = 4


def standard_options(func: Callable[..., Any]) -> Callable[..., Any]:
    """Add the standard options to a Click command."""
    for option in reversed(_OPTIONS):
        func = option(func)
    return func


_OPTIONS = (
    click.option("--debug", "-d", is_flag=True, envvar="DEBUG", help="Emit debug logs."),
    click.option(
        "--address", default=DEFAULT_ADDRESS, show_default=True, envvar="ADDRESS", help="Where to listen."
    ),
    click.option(
        "--tls-server-certs-dir",
        "--tls-certs-dir",
        "tls_certs_dir",
        envvar="TLS_SERVER_CERTS_DIR",
        help="Directory with the certificates to serve with.",
    ),
    click.option(
        "--insecure", is_flag=True, envvar="INSECURE", help="Serve without certificates, even if there are."
    ),
    click.option(
        "--max-recv-message-size",
        "--max-grpc-message-size",
        type=int,
        default=DEFAULT_MAX_RECV_MESSAGE_SIZE,
        show_default=True,
        envvar=["MAX_RECV_MESSAGE_SIZE", "MAX_GRPC_MESSAGE_SIZE"],
        help="Largest request in MB.",
    ),
    click.option(
        "--max-send-message-size",
        type=int,
        default=None,
        envvar="MAX_SEND_MESSAGE_SIZE",
        help="Largest response in MB; as --max-recv-message-size unless given.",
    ),
)


def run(
    function_runner: Any,
    *,
    debug: bool,
    address: str,
    tls_certs_dir: str | None,
    insecure: bool,
    max_recv_message_size: int,
    max_send_message_size: int | None,
) -> None:
    """Serve a function as the standard options say."""
    logging.configure(level=logging.Level.DEBUG if debug else logging.Level.INFO)
    largest_answer = max_recv_message_size if max_send_message_size is None else max_send_message_size
    runtime.serve(
        function_runner,
        address,
        creds=runtime.load_credentials(tls_certs_dir),
        insecure=insecure,
        options=[
            ("grpc.max_receive_message_length", max_recv_message_size << 20),
            ("grpc.max_send_message_length", largest_answer << 20),
        ],
    )
