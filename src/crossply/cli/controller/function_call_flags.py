"""How `crossply controller` calls functions, as flags; those that Crossplane has are called as there."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.calls.runner_factory import CallSettings

CALL_FLAGS = (
    Flag(
        "max-concurrent-function-calls",
        "How many calls one function gets at the same time; further ones wait.",
        kind="int",
        default=32,
        placeholder="32",
        env="MAX_CONCURRENT_FUNCTION_CALLS",
    ),
    Flag(
        "max-function-reply-size",
        "The largest answer of a function, in MiB.",
        kind="int",
        default=4,
        placeholder="4",
        env="MAX_FUNCTION_REPLY_SIZE",
    ),
    Flag(
        "enable-function-response-cache",
        "Keep the answers of functions on disk too, sealed, for as long as their ttl says: they survive a "
        "restart.",
        default=False,
        env="ENABLE_FUNCTION_RESPONSE_CACHE",
    ),
    Flag(
        "xfn-cache-dir",
        "The directory for such answers.",
        kind="path",
        default="/cache/xfn",
        placeholder="DIR",
        env="XFN_CACHE_DIR",
    ),
    Flag(
        "xfn-cache-max-ttl",
        "How long such an answer is kept at most, whatever its ttl says; 0 for what it says.",
        kind="duration",
        default="24h",
        placeholder="24h",
        env="XFN_CACHE_MAX_TTL",
    ),
)


def call_settings(invocation: Invocation) -> CallSettings:
    """What the flags say."""
    from crossply.control.calls.response_store import ResponseStoreSettings
    from crossply.control.calls.runner_factory import CallSettings

    store = ResponseStoreSettings(invocation["xfn-cache-dir"], invocation["xfn-cache-max-ttl"])
    return CallSettings(
        max(invocation["max-concurrent-function-calls"], 1),
        max(invocation["max-function-reply-size"], 1) << 20,
        store if invocation["enable-function-response-cache"] else None,
    )
