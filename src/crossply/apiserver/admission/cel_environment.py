"""What every expression of admission may call: Kubernetes' library, CEL's extensions, and the authorizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.apiserver.admission.cel_authorizer import authorizer_functions


def new_environment(variables: Mapping[str, Any], pool: Any = None) -> Any:
    """An environment in which these variables have these types; a pool describes types of messages."""
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    from crossply.schema.cel_library import declarations

    return cel.NewEnv(
        **({"descriptor_pool": pool} if pool is not None else {}),
        variables=dict(variables),
        extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings(), ext_bindings.ExtBindings()],
        functions=[*declarations(), *authorizer_functions()],
    )
