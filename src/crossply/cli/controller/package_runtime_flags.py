"""Where `crossply controller` runs packages, as flags of Crossplane's names."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.runtimes.runtimes import RuntimeSettings

RUNTIME_FLAGS = (
    Flag(
        "package-runtime",
        "Where packages run: Deployment on this cluster, Container on this machine, External for somebody "
        "else's care, or one for each kind of package: Provider=External;Function=Deployment.",
        kind="string",
        default="Deployment",
        placeholder="RUNTIME",
        env="PACKAGE_RUNTIME",
    ),
    Flag(
        "function-addresses",
        "How the replicas of functions on this cluster are found: by DNS, or by EndpointSlices, which tell "
        "of new ones at once and need no DNS.",
        kind="string",
        choices=("DNS", "EndpointSlices"),
        default="DNS",
        env="FUNCTION_ADDRESSES",
    ),
    Flag(
        "tls-client-secret-name",
        "The Secret with the certificate that functions are called with; made where it is not there.",
        kind="string",
        default="crossplane-tls-client",
        env="TLS_CLIENT_SECRET_NAME",
    ),
)


def runtime_settings(invocation: Invocation) -> RuntimeSettings:
    """What the flags say."""
    from crossply.control.runtimes.choice import parse_runtimes
    from crossply.control.runtimes.credentials import CredentialSettings
    from crossply.control.runtimes.runtimes import RuntimeSettings

    own = CredentialSettings(
        invocation["namespace"], invocation["service-account"], invocation["tls-client-secret-name"]
    )
    by_slices = invocation["function-addresses"] == "EndpointSlices"
    return RuntimeSettings(parse_runtimes(invocation["package-runtime"]), own, by_slices)
