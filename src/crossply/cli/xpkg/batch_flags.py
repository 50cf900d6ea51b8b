"""The flags of `xpkg batch`: those of Crossplane's command."""

from __future__ import annotations

from crossply.cli.framework.command import Flag
from crossply.values.goquote import quote


def _unsigned(text: str) -> int:
    """Read a number that is not negative."""
    from crossply.cli.framework.flag_values import read_int

    try:
        value = read_int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise ValueError(f"expected a valid 64 bit uint but got {quote(text)}")
    return value


FLAGS = (
    Flag(
        "family-base-image",
        "Family image used as the base for the smaller provider packages. The architecture of each "
        "platform is appended to it after a dash.",
        kind="string",
        required=True,
    ),
    Flag(
        "provider-name",
        "Provider name prefix, such as provider-aws, for smaller provider package repositories.",
        kind="string",
        required=True,
    ),
    Flag(
        "family-package-url-format",
        "Family package URL format for the smaller provider packages. Must be a valid OCI image URL "
        "containing the format specifier '%s', substituted with <provider name>-<service name>.",
        kind="string",
        required=True,
    ),
    Flag(
        "smaller-providers",
        "Smaller provider names to build and push, such as ec2, eks, or s3.",
        kind="strings",
        default=("monolith",),
    ),
    Flag(
        "concurrency",
        "Maximum number of packages to process concurrently. 0 puts no limit on the concurrency, "
        "processing all packages in parallel.",
        kind="int",
        default="0",
        parse=_unsigned,
    ),
    Flag(
        "push-retry",
        "Number of retries when pushing a provider package fails.",
        kind="int",
        default="3",
        parse=_unsigned,
    ),
    Flag(
        "platform",
        "Platforms to build the packages for. Each platform must use the <OS>_<arch> syntax. An example "
        "is: linux_arm64.",
        kind="strings",
        default=("linux_amd64", "linux_arm64"),
    ),
    Flag(
        "provider-bin-root",
        "Provider binary paths root. Smaller provider binaries must be under the platform directories in "
        "this folder.",
        short="p",
        kind="existing-dir",
        placeholder="STRING",
    ),
    Flag("output-dir", "Path of the package output directory.", short="o", kind="string"),
    Flag(
        "store-packages",
        "Smaller provider names whose provider package must be under the package output directory "
        "specified with the --output-dir option.",
        kind="strings",
        placeholder="STORE-PACKAGES",
    ),
    Flag(
        "package-metadata-template",
        "Smaller provider metadata template. The template variables {{ .Service }} and {{ .Name }} are "
        "always set; you may supply optional variables via --service-metadata and --template-var (the "
        "latter overrides on key conflicts).",
        kind="path",
        default="./package/crossplane.yaml.tmpl",
    ),
    Flag(
        "template-var",
        "Smaller provider metadata template variables for the specified template.",
        kind="map",
        separator=";",
    ),
    Flag(
        "service-metadata",
        "Optional YAML file of per smaller-provider template variables. Top-level keys are smaller "
        "provider names (such as ec2, elb). Each entry is a map of variable names to scalars or lists. "
        "Templates may use the helpers toYAML, indent and dict. Merged before --template-var.",
        kind="path",
        placeholder="STRING",
    ),
    Flag(
        "examples-group-override",
        "Overrides for the location of the example manifests folder of a smaller provider.",
        kind="map",
        separator=";",
    ),
    Flag(
        "crd-group-override",
        "Overrides for the locations of the CRD folders of the smaller providers.",
        kind="map",
        separator=";",
    ),
    Flag(
        "package-repo-override",
        "Overrides for the package repository names of the smaller providers.",
        kind="map",
        separator=";",
    ),
    Flag(
        "examples-root",
        "Path to package examples directory.",
        short="e",
        kind="path",
        default="./examples",
    ),
    Flag("crd-root", "Path to package CRDs directory.", kind="path", default="./package/crds"),
    Flag(
        "ignore",
        "Paths to exclude from the smaller provider packages.",
        kind="strings",
        placeholder="IGNORE",
    ),
    Flag(
        "build-only",
        "Only build the smaller provider packages and don't push them to a package repository.",
    ),
    Flag(
        "provider-name-suffix-for-push",
        "Suffix for provider name when pushing the packages, to add to the service name for the "
        "corresponding provider before the service-scoped name. Examples: provider-family-aws-suffix, "
        "provider-aws-suffix-s3",
        kind="string",
        env="PROVIDER_NAME_SUFFIX_FOR_PUSH",
    ),
)
