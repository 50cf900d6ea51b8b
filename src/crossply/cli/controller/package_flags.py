"""Flags for packages, with Crossplane's names: their sources, their cache, and where they run."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation
from crossply.errors import CrossplyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.package_manager.settings import PackageSettings
    from crossply.control.runtimes.runtimes import RuntimeSettings

CACHE_DIR = Flag(
    "xpkg-cache-dir",
    "The directory where packages that were fetched are kept.",
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
        "A file with certificate authorities to trust registries by, besides those of the system.",
        kind="path",
        placeholder="FILE",
        env="CA_BUNDLE_PATH",
    ),
    Flag(
        "plain-http-registry",
        "A registry that is spoken to without TLS, as host:port; those on this machine are anyway. "
        "Repeatable.",
        kind="strings",
        placeholder="HOST",
        env="PLAIN_HTTP_REGISTRY",
    ),
    Flag(
        "image-pull-timeout",
        "How long the image of a function may take to be pulled as a whole before that is given up and "
        "tried again.",
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
        "The service account of the control plane, whose pull secrets packages are fetched and run with.",
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
    """The same for one machine: packages are kept in a directory, and fetched with the user's own logins."""
    from crossply.xpkg.keychain import default_keychain

    settings = _settings(invocation, directory)
    return settings._replace(logins=default_keychain(invocation.environ), service_account="")


def _settings(invocation: Invocation, directory: str) -> PackageSettings:
    from urllib.request import getproxies_environment

    from crossply.control.package_manager.settings import PackageSettings
    from crossply.xpkg.registry import Trust

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
    from crossply.control.runtimes.credentials import CredentialSettings
    from crossply.control.runtimes.package_runtimes import parse_runtimes
    from crossply.control.runtimes.runtimes import RuntimeSettings

    own = CredentialSettings(
        invocation["namespace"], invocation["service-account"], invocation["tls-client-secret-name"]
    )
    by_slices = invocation["function-addresses"] == "EndpointSlices"
    return RuntimeSettings(parse_runtimes(invocation["package-runtime"]), own, by_slices)
