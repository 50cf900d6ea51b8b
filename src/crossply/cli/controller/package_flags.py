"""Flags for packages, with Crossplane's names: their sources, their cache, and where they run."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation
from crossply.errors import CrossplyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.package_manager.settings import PackageSettings
    from crossply.control.runtimes.runtime_set import RuntimeSettings

CACHE_DIR = Flag(
    "xpkg-cache-dir",
    "The cache directory for fetched packages.",
    short="c",
    kind="path",
    default="/cache/xpkg",
    placeholder="DIR",
    aliases=("cache-dir",),
    env="XPKG_CACHE_DIR",
)
TRUST_FLAGS = (
    Flag(
        "ca-bundle-path",
        "A PEM file of certificate authorities to trust for registries, in addition to the system's.",
        kind="path",
        placeholder="FILE",
        env="CA_BUNDLE_PATH",
    ),
    Flag(
        "plain-http-registry",
        "A registry to access over plain HTTP, as host:port. Loopback addresses always allow it. Repeatable.",
        kind="strings",
        placeholder="HOST",
        env="PLAIN_HTTP_REGISTRY",
    ),
    Flag(
        "image-pull-timeout",
        "The timeout of pulling the image of a function. The pull is then retried.",
        kind="duration",
        default="1h",
        placeholder="1h",
        env="IMAGE_PULL_TIMEOUT",
    ),
)
PACKAGE_FLAGS = (
    CACHE_DIR,
    *TRUST_FLAGS,
    Flag(
        "service-account",
        "The service account of the control plane. Its pull secrets are used to fetch and run packages.",
        kind="string",
        default="crossplane",
        placeholder="NAME",
        env="POD_SERVICE_ACCOUNT",
    ),
)


class NoBundle(CrossplyError):
    """The file of certificate authorities cannot be read."""

    code = "CP-572"
    hint = "check the path after --ca-bundle-path"


def package_settings(invocation: Invocation) -> PackageSettings:
    """What the flags of `crossply controller` say."""
    settings = _settings(invocation, invocation["xpkg-cache-dir"])
    account = invocation["service-account"]
    return settings._replace(namespace=invocation["namespace"], service_account=account)


def local_package_settings(invocation: Invocation, directory: str) -> PackageSettings:
    """The settings for one machine: a local cache directory, and the user's own registry logins."""
    from crossply.xpkg.keychain import default_keychain

    settings = _settings(invocation, directory)
    return settings._replace(logins=default_keychain(invocation.environ), service_account="")


def _settings(invocation: Invocation, directory: str) -> PackageSettings:
    from urllib.request import getproxies_environment

    from crossply.control.package_manager.settings import PackageSettings
    from crossply.xpkg.registry_session import Trust

    trust = Trust(
        authority=_read(invocation["ca-bundle-path"]),
        plain_http=frozenset(invocation["plain-http-registry"] or ()),
        proxies=getproxies_environment(),
        pull_seconds=invocation["image-pull-timeout"],
    )
    return PackageSettings(directory, trust)


def _read(path: str | None) -> bytes:
    if not path:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22)
    except OSError as problem:
        raise NoBundle(f"cannot read {path}: {(problem.strerror or '').lower()}") from None


RUNTIME_FLAGS = (
    Flag(
        "package-runtime",
        "Where packages run: as a Deployment on this cluster, as a Container on this machine, or "
        "External (managed elsewhere). Or one for each kind of package: "
        "Provider=External;Function=Deployment.",
        kind="string",
        default="Deployment",
        placeholder="RUNTIME",
        env="PACKAGE_RUNTIME",
    ),
    Flag(
        "function-addresses",
        "How endpoints of functions on this cluster are discovered: DNS, or EndpointSlices, "
        "which show new replicas at once and need no DNS.",
        kind="string",
        choices=("DNS", "EndpointSlices"),
        default="DNS",
        env="FUNCTION_ADDRESSES",
    ),
    Flag(
        "tls-client-secret-name",
        "The Secret with the client certificate for calling functions. It is created if it does not exist.",
        kind="string",
        default="crossplane-tls-client",
        env="TLS_CLIENT_SECRET_NAME",
    ),
)


def runtime_settings(invocation: Invocation) -> RuntimeSettings:
    """What the flags say."""
    from crossply.control.runtimes.mutual_tls_certificates import CredentialSettings
    from crossply.control.runtimes.package_runtime_choice import parse_runtimes
    from crossply.control.runtimes.runtime_set import RuntimeSettings

    own = CredentialSettings(
        invocation["namespace"], invocation["service-account"], invocation["tls-client-secret-name"]
    )
    by_slices = invocation["function-addresses"] == "EndpointSlices"
    return RuntimeSettings(parse_runtimes(invocation["package-runtime"]), own, by_slices)
