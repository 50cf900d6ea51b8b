from crossply.containers.log_file import log_path
from crossply.ui import package_logs


def test_the_end_of_a_log_is_read_and_a_cut_line_is_left_out(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)))
    lines = (package_logs._tail(str(path)) or "").splitlines()
    assert len(lines) == package_logs.LINES
    assert (lines[0], lines[-1]) == ("line 99700", "line 99999")


def test_there_is_no_log_of_a_package_that_wrote_nothing(tmp_path):
    assert package_logs._tail(log_path(str(tmp_path), "Function", "none")) is None


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"\xff\xfe<script>\n")
    assert package_logs._tail(str(path)) == "\ufffd\ufffd<script>"
