"""The pages on packages: what they build can be built, and what they install is what they look at."""

from __future__ import annotations

import pathlib

from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.dns_names import to_dns_label
from crossply.xpkg.image_reference import parse
from tests.support.docs.command_lines import crossply_commands
from tests.support.docs.markdown_session import Reader, Run, Write, session
from tests.support.images import archive, image, member

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "how-to"


def test_a_package_of_any_program_is_built_of_the_files_that_the_page_shows(tmp_path: pathlib.Path) -> None:
    program = image(archive([member("bin/jq", b"")]))
    inner = {**program.inner, "Entrypoint": ["jq"]}
    write_archive(
        program._replace(config={**program.config, "config": inner}), str(tmp_path / "function.tgz")
    )
    reader = Reader(tmp_path)
    built = False
    for step in session((PAGES / "run-container-functions.md").read_text()):
        if isinstance(step, Write):
            (tmp_path / step.name).write_text(step.content)
        elif isinstance(step, Run) and "--from-oci-tarball" in step.command:
            assert reader.run(step.command) == ""
            built = (tmp_path / "function.xpkg").exists()
    assert built


def test_the_function_that_a_page_installs_has_the_name_that_it_reads() -> None:
    names = set()
    for line in (PAGES / "install-packages.md").read_text().splitlines():
        for words in crossply_commands(line.strip()) if line.startswith("    crossply ") else ():
            if words[:2] in (["xpkg", "install"], ["xpkg", "update"]):
                arguments = [word for word in words[2:] if not word.startswith("--")]
                names.add((*arguments[2:], to_dns_label(parse(arguments[1]).repository))[0])
            elif words[0] == "trace":
                names.add(words[1].removeprefix("function/"))
    assert names == {"function-shop"}
