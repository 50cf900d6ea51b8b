"""Build the site of the documentation: `build_site.py [DIRECTORY]`, by default into `.cache/site`.

The pages in `docs/` also read well in the repository, where links lead to examples and source files. The site
gets copies in which those links lead to the repository on the web. Nothing is fetched. A broken
link, or a page that the navigation does not list, ends the build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCS = os.path.join(ROOT, "docs")
REPOSITORY = "https://github.com/crossply/crossply/tree/main"
_DIRECTORY = re.compile(r"^( *)- (.+): (\S+/)$", re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def main(site: str) -> int:
    with tempfile.TemporaryDirectory(prefix="crossply-site-") as directory:  # builds may run at the same time
        return build(directory, os.path.abspath(site))


def build(directory: str, site: str) -> int:
    """Build the site from copies of the pages in a directory; the exit code of mkdocs."""
    source = os.path.join(directory, "pages")
    configuration = os.path.join(directory, "mkdocs.yml")
    for path in files_below(DOCS):
        copy_page(path, os.path.join(source, os.path.relpath(path, DOCS)))
    write_configuration(configuration, source)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", configuration, "-d", site]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    # Not with --quiet: warnings that are not printed do not count for --strict.
    built = subprocess.run(command, cwd=ROOT, env=environment, check=False, stderr=subprocess.PIPE, text=True)
    sys.stderr.writelines(
        line for line in built.stderr.splitlines(keepends=True) if not line.startswith("INFO")
    )
    return built.returncode


def write_configuration(configuration: str, source: str) -> None:
    """Write what mkdocs reads: mkdocs.yml with the pages of the directories in its navigation."""
    with open(os.path.join(ROOT, "mkdocs.yml"), encoding="utf-8") as file:
        text = file.read()
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(f"docs_dir: {source}\n{_DIRECTORY.sub(_with_pages, text)}")


def _with_pages(match: re.Match[str]) -> str:
    indent, title, directory = match.groups()
    names = sorted(name for name in os.listdir(os.path.join(DOCS, directory)) if name.endswith(".md"))
    names.sort(key=lambda name: name != "index.md")
    return "\n".join((f"{indent}- {title}:", *(f"{indent}    - {directory}{name}" for name in names)))


def files_below(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        yield from (os.path.join(folder, name) for name in names)


def copy_page(path: str, target: str) -> None:
    """Copy a file; in a page, links that leave `docs/` become links to the repository."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not path.endswith(".md"):
        shutil.copyfile(path, target)
        return
    with open(path, encoding="utf-8") as page:
        text = page.read()
    with open(target, "w", encoding="utf-8") as copy:
        copy.write(with_repository_links(text, os.path.dirname(path)))


def with_repository_links(text: str, folder: str) -> str:
    def replace(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        path = os.path.normpath(os.path.join(folder, target))
        if ":" in target or path.startswith(DOCS + os.sep) or not os.path.exists(path):
            return match[0]
        return f"{before}{REPOSITORY}/{os.path.relpath(path, ROOT)}{anchor or ''}{after}"

    return _LINK.sub(replace, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, ".cache", "site")))
