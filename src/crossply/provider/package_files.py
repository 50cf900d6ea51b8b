"""The generated files of a provider's package: its CRDs in `package/crds`.

`python -P -m crossply.provider.package_files DIR` writes them in a process of its own, so that a provider's
code is never imported into the calling command.
"""

from __future__ import annotations

import os
import sys

from crossply.errors import CrossplyError
from crossply.manifests.file_io import replace_folder
from crossply.provider.crd import crds_of
from crossply.provider.provider_declaration_errors import StalePackageFiles
from crossply.provider.provider_directory import ProviderDirectory, load_provider
from crossply.values.yaml import dump

CRDS = os.path.join("package", "crds")


def crd_files(provider: ProviderDirectory) -> dict[str, str]:
    """The CRDs of a provider by the names of their files."""
    files = {}
    for crd in crds_of(provider.kinds):
        spec = crd["spec"]
        files[f"{spec['group']}_{spec['names']['plural']}.yaml"] = dump(crd)
    return files


def write_package_files(provider: ProviderDirectory) -> list[str]:
    """Write the CRDs of a provider into its directory. Returns the names of the files that changed."""
    files, directory = crd_files(provider), os.path.join(provider.path, CRDS)
    changed = _differing(files, _read_files(directory))
    if changed:
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        replace_folder(directory, files, "cannot write CRDs")
    return changed


def check_package_files(path: str) -> None:
    """Raise `StalePackageFiles` where the CRDs in a provider's directory are not those of its code."""
    stale = _differing(crd_files(load_provider(path)), _read_files(os.path.join(path, CRDS)))
    if stale:
        raise StalePackageFiles(f"not current in {os.path.join(path, CRDS)}: {', '.join(stale)}")


def _differing(expected: dict[str, str], present: dict[str, str]) -> list[str]:
    return sorted(name for name in {*expected, *present} if expected.get(name) != present.get(name))


def _read_files(directory: str) -> dict[str, str]:
    if not os.path.isdir(directory):
        return {}
    files = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            files[name] = file.read()
    return files


def main(arguments: list[str]) -> int:
    """Write the CRDs of the provider in the directory that is named."""
    try:
        write_package_files(load_provider(arguments[0]))
    except CrossplyError as error:
        for line in (error.place and f"  at: {error.place}", error.hint and f"  try: {error.hint}", error):
            if line:
                sys.stderr.write(f"{line}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
