"""What a step may say to environment-configs: the fields of `environmentconfigs.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from crossply.functions.builtin.extra_resources_selection import selector_members
from crossply.functions.builtin.input_decoding import OBJECT, array, free_form, struct, text

GO_TYPE = "v1beta1.Input"

_SOURCE = struct(
    "v1beta1.EnvironmentSource",
    {
        "type": text("v1beta1.EnvironmentSourceType"),
        "ref": struct("v1beta1.EnvironmentSourceReference", {"name": text()}),
        "selector": struct(
            "v1beta1.EnvironmentSourceSelector",
            {
                "mode": text("v1beta1.EnvironmentSourceSelectorModeType"),
                **selector_members("EnvironmentSource"),
            },
        ),
        "toFieldPath": text(),
    },
)

SHAPE = struct(
    GO_TYPE,
    {
        **OBJECT,
        "spec": struct(
            "v1beta1.InputSpec",
            {
                "defaultData": free_form("map[string]v1.JSON"),
                "environmentConfigs": array("[]v1beta1.EnvironmentSource", _SOURCE, {}),
                "policy": struct("v1beta1.Policy", {"resolution": text("v1.ResolutionPolicy")}),
            },
        ),
    },
)
