"""`crossply config set`: turn a feature on or off in the configuration file."""

from __future__ import annotations

import os

from crossply.cli.framework import config_file as config
from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.framework.config_file import ConfigKeyError
from crossply.cli.framework.flag_values import quote

KEYS = {f"features.{name}": name for name in config.FEATURES}
GO_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def run(invocation: Invocation) -> int:
    """Write the file again with one value changed."""
    path = invocation.config_path
    if not path:
        raise ConfigKeyError("cannot determine config file path; pass --config or set CROSSPLANE_CONFIG")
    key, text = invocation["key"], invocation["value"]
    if key not in KEYS:
        raise ConfigKeyError(f"unknown config key {quote(key)} (supported: {', '.join(KEYS)})")
    if text not in GO_BOOLS:
        problem = f"strconv.ParseBool: parsing {quote(text)}: invalid syntax"
        raise ConfigKeyError(f"invalid bool value {quote(text)} for key {key}: {problem}")
    features = {**invocation.config.get("features", {}), KEYS[key]: GO_BOOLS[text]}
    config.write(path, config.with_features(features))
    invocation.log(f"wrote {os.path.abspath(path)}")
    return 0


COMMAND = Command(
    "set",
    "Set a value in the configuration file.",
    run,
    arguments=(
        Argument("key", "Key to set (for example, features.enableAlpha)."),
        Argument("value", "Value to assign."),
    ),
    examples=("crossply config set features.enableAlpha true",),
)
