"""The built-in functions: one line each. The lists of the documentation and of the program are made of it.

A line says where the function that a built-in one replaces is published, and how far the two were compared.
"""

from __future__ import annotations

CONTRIB = "xpkg.crossplane.io/crossplane-contrib"
UPBOUND = "xpkg.upbound.io/upbound"
KCLLANG = "docker.io/kcllang"
BORRELLI = "xpkg.upbound.io/borrelli-org"
UPBOUNDCARE = "xpkg.upbound.io/upboundcare"
WOMPIPOMP = "ghcr.io/wompipomp"

QUICK = "quick"
"""Never takes long."""
HERE = "here"
"""Computes what users wrote in this process, perhaps for seconds."""
IN_WORKERS = "in workers"
"""Runs programs of users in processes of their own, perhaps for seconds."""

RECORDED = "its responses are recorded and replayed"
COMPARED = "its responses to the same requests were compared; they are not kept for replay"
DOCUMENTED = "its sources, its documentation and its examples were read; it could not be run"
EMBEDDED = "responses of the library that it embeds are recorded and replayed; its own were compared"
SOURCES = "its sources and its documentation were read"


class BuiltIn:
    """A built-in function, and the published one that it replaces."""

    # No NamedTuple: every process that runs a program of a user makes this class at its start.
    __slots__ = ("comparison", "computes", "module", "name", "publishers", "version")

    def __init__(
        self,
        name: str,
        module: str,
        publishers: tuple[str, ...],
        version: str,
        comparison: str,
        computes: str = QUICK,
    ) -> None:
        self.name = name
        self.module = module
        """Below this package; it has `run(request) -> Response`."""
        self.publishers = publishers
        """Registry and organisation of each repository `function-NAME` that it replaces, the usual first."""
        self.version = version
        """The published version that it was compared with last."""
        self.comparison = comparison
        """How it was compared."""
        self.computes = computes
        """How long it may take, and where: QUICK, HERE or IN_WORKERS."""

    @property
    def repositories(self) -> tuple[str, ...]:
        """Organisation and name of each published repository; a mirror on another registry keeps both."""
        return tuple(f"{publisher.rpartition('/')[2]}/function-{self.name}" for publisher in self.publishers)

    @property
    def package(self) -> str:
        """The repository where the function is usually published, without a tag."""
        return f"{self.publishers[0]}/function-{self.name}"


CATALOGUE = (
    BuiltIn("auto-ready", "auto_ready.function", (CONTRIB, UPBOUND), "v0.7.0", RECORDED),
    BuiltIn("cel-filter", "cel_filter.function", (CONTRIB,), "v0.2.0", RECORDED, HERE),
    BuiltIn("cidr", "cidr.function", (UPBOUND,), "v0.7.0", RECORDED),
    BuiltIn(
        "conditional-patch-and-transform",
        "conditional_patch_and_transform.function",
        (BORRELLI, UPBOUNDCARE),
        "v0.4.0",
        RECORDED,
        HERE,
    ),
    BuiltIn("deletion-protection", "deletion_protection", (CONTRIB,), "v0.2.1", RECORDED),
    BuiltIn("dummy", "dummy", (CONTRIB,), "v0.4.1", RECORDED),
    BuiltIn("environment-configs", "environment_configs.function", (CONTRIB,), "v0.7.1", RECORDED),
    BuiltIn("extra-resources", "extra_resources", (CONTRIB,), "v0.3.0", RECORDED),
    BuiltIn("go-templating", "go_templating.function", (CONTRIB, UPBOUND), "v0.12.2", COMPARED, HERE),
    BuiltIn("kcl", "kcl.function", (CONTRIB, KCLLANG), "v0.12.2", DOCUMENTED, IN_WORKERS),
    BuiltIn("kro", "kro.function", (CONTRIB,), "v0.3.0", EMBEDDED, IN_WORKERS),
    BuiltIn("patch-and-transform", "patch_and_transform.function", (CONTRIB, UPBOUND), "v0.10.8", COMPARED),
    BuiltIn("python", "python.function", (CONTRIB,), "v0.5.0", SOURCES, IN_WORKERS),
    BuiltIn("pythonic", "pythonic.function", (CONTRIB,), "v0.6.1", RECORDED, IN_WORKERS),
    BuiltIn("sequencer", "sequencer.function", (CONTRIB,), "v0.6.0", RECORDED, HERE),
    BuiltIn("shell", "shell.function", (CONTRIB,), "v0.6.0", SOURCES, IN_WORKERS),
    BuiltIn("starlark", "starlark.function", (WOMPIPOMP, CONTRIB), "v0.10.0", RECORDED, IN_WORKERS),
    BuiltIn("status-transformer", "status_transformer.function", (CONTRIB,), "v0.5.1", RECORDED, HERE),
    BuiltIn("tag-manager", "tag_manager.function", (CONTRIB,), "v0.9.0", RECORDED),
)
