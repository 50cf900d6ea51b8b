"""Folders that are written as a whole: all files are there before anything takes its place."""

from __future__ import annotations

import os
from collections.abc import Mapping

from crossply.cli.framework.output_files import ConvertError, in_go_words, make_directory, write_file


def replace_folder(path: str, files: Mapping[str, str], story: str) -> None:
    """Have a folder hold these files and nothing else; without files there is no folder."""
    part = f"{path}.part"
    remove_folder(part, story)
    for name, text in files.items():
        file = os.path.join(part, name)
        make_directory(os.path.dirname(file), story)
        write_file(file, text, story)
    remove_folder(path, story)
    if files:
        os.rename(part, path)


def remove_folder(path: str, story: str) -> None:
    """Remove a folder with all in it, if it is there; of a link only the link."""
    import shutil

    try:
        if os.path.islink(path):
            os.unlink(path)
        elif os.path.lexists(path):
            shutil.rmtree(path)
    except OSError as problem:
        raise ConvertError(f"{story}: {in_go_words('unlink', path, problem)}") from None
