"""Projects: packages that are developed together, their functions and their dependencies."""

import os

from crossply.kinds import PROJECT_FILES

PROJECT_FILE = PROJECT_FILES[0]


def file_in(directory: str) -> str:
    """The path of the project file in a directory: Crossplane's, or else that of `up`, if it is there."""
    path, upbound = (os.path.join(directory, name) for name in PROJECT_FILES)
    return upbound if os.path.exists(upbound) and not os.path.exists(path) else path
