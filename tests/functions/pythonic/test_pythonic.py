"""function-pythonic: answers as the published function gives them, and where programs come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    Condition,
    Request,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin.pythonic.function import run
from crossply.functions.builtin.pythonic.program_files import ALLOWED
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    load_cases,
    load_recorded,
    our_answer,
)

CASES = load_cases("pythonic")
RECORDED = load_recorded("pythonic")
MODULES = Path(__file__).parent / "modules"
XR = {
    "apiVersion": "example.org/v1",
    "kind": "Shop",
    "metadata": {"name": "corner"},
    "spec": {"team": "blue"},
}


@pytest.fixture
def with_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOWED, str(MODULES))


@pytest.mark.usefixtures("with_modules")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_the_published_function(case: Case) -> None:
    assert our_answer(case, run) == expected_answer(case, RECORDED)


def answered(composite: str, observed: State | None = None, **more: Any) -> Response:
    step_input = {"composite": composite, **more.pop("fields", {})}
    return run(Request(observed or State(Resource(XR)), input=step_input, tag="t", **more))


def composed(*lines: str, **more: Any) -> Response:
    """The response of a class with these lines in `compose`."""
    body = "\n".join(f"    {line}" for line in lines)
    answer = answered(f"class Shop(BaseComposite):\n  def compose(self):\n{body}\n", **more)
    assert [result.message for result in answer.results if result.severity == SEVERITY_FATAL] == []
    return answer


def status_of(answer: Response) -> Any:
    assert answer.desired is not None
    assert answer.desired.composite is not None
    return answer.desired.composite.object["status"]


def fatal_message(answer: Response) -> str:
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


def test_an_operation_gets_the_watched_resource_and_gives_an_output() -> None:
    watched = Resource({"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Failed"}})
    answer = composed(
        "self.output.phase = self.watched.status.phase",
        "self.output.kind = self.watched.kind",
        "self.resources.job('batch/v1', 'Job').metadata.name = self.watched.metadata.name",
        observed=State(),
        required_resources={"ops.crossplane.io/watched-resource": (watched,)},
    )
    assert answer.output == {"phase": "Failed", "kind": "Pod"}
    assert answer.desired is not None
    assert answer.desired.composite is None
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "p"}}
    assert answer.desired.resources == {"job": Resource(job)}
    assert answer.conditions == (
        Condition("ResourcesComposed", 2, "AllComposed", "All resources are composed"),
    )


def test_an_operation_without_a_composite_is_fatal() -> None:
    answer = run(Request(State(), input={}, tag="t"))
    assert fatal_message(answer) == 'Missing operation input "composite"'


def test_an_operation_that_watches_nothing_sees_nothing() -> None:
    answer = composed("self.output.known = bool(self.watched)", observed=State())
    assert answer.output == {"known": False}


def test_packages_of_the_input_are_imported() -> None:
    packages = {
        "shops": {
            "__init__.py": "NAME = 'shops'\n",
            "prices": {
                "rounding.py": "from shops import NAME\nfrom .. import NAME as again\nUP = NAME + again\n"
            },
            "shop.py": (
                "from crossplane.pythonic import BaseComposite\n"
                "from shops.prices import rounding\n"
                "class Shop(BaseComposite):\n"
                "  def compose(self):\n"
                "    self.status.up = rounding.UP\n"
            ),
            "notes.txt": "no module",
            "not-a-module.py": "raise SystemExit",
        }
    }
    answer = answered("shops.shop.Shop", fields={"packages": packages})
    assert status_of(answer) == {"up": "shopsshops"}


def test_modules_are_executed_for_every_request() -> None:
    packages = {"counter.py": "seen = []\n"}
    program = (
        "import counter\n"
        "mine = []\n"
        "class Shop(BaseComposite):\n"
        "  def compose(self):\n"
        "    counter.seen.append(1)\n"
        "    mine.append(1)\n"
        "    self.status.seen = [len(counter.seen), len(mine)]\n"
    )
    for _ in range(2):
        assert status_of(answered(program, fields={"packages": packages})) == {"seen": [1.0, 1.0]}


def test_an_error_in_a_module_names_its_file() -> None:
    packages = {"shops": {"prices.py": "def price():\n  return {}['x']\n"}}
    program = (
        "from shops import prices\nclass Shop(BaseComposite):\n  def compose(self):\n    prices.price()\n"
    )
    message = fatal_message(answered(program, fields={"packages": packages}))
    assert message == "Compose exception: 'x' (shops/prices.py:2, in price)"
    broken = {"shops": {"prices.py": "def price(:\n"}}
    message = fatal_message(answered(program, fields={"packages": broken}))
    assert message == "Exec exception: invalid syntax (shops/prices.py:1)"


def test_directories_are_read_only_where_the_operator_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shops").mkdir()
    module = tmp_path / "shops" / "shop.py"
    text = "from crossplane.pythonic import BaseComposite\nclass Shop(BaseComposite):\n  def compose(self):\n"
    module.write_text(text + "    self.status.a = 1\n")
    message = fatal_message(answered("shops.shop.Shop"))
    assert message.startswith("Import module exception: No module named 'shops.shop'")
    assert f"a directory that {ALLOWED} lists" in message
    monkeypatch.setenv(ALLOWED, str(tmp_path))
    assert status_of(answered("shops.shop.Shop")) == {"a": 1.0}
    module.write_text(text + "    self.status.a = 2\n")
    assert status_of(answered("shops.shop.Shop")) == {"a": 2.0}


def test_a_link_out_of_an_allowed_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "secret.py").write_text("KEY = 1\n")
    (allowed / "secret.py").symlink_to(tmp_path / "secret.py")
    monkeypatch.setenv(ALLOWED, str(allowed))
    message = fatal_message(answered("secret.Shop"))
    assert message == f"cannot read modules: {allowed / 'secret.py'} is a link out of {allowed}"
    monkeypatch.setenv(ALLOWED, str(tmp_path / "absent"))
    message = fatal_message(answered("secret.Shop"))
    assert message == f"cannot read modules: open {tmp_path / 'absent'}: no such file or directory"


def test_resources_that_are_not_touched_are_the_same_objects() -> None:
    before = {name: Resource({"kind": "Kept", "spec": {"n": 1.0}}, {}, READY_TRUE) for name in "ab"}
    answer = composed("self.resources.a.spec.n = 2", desired=State(None, before))
    assert answer.desired is not None
    assert answer.desired.resources["b"] is before["b"]
    assert answer.desired.resources["a"] == Resource({"kind": "Kept", "spec": {"n": 2.0}}, {}, READY_TRUE)


def test_a_step_without_a_name_is_known_by_its_composite() -> None:
    first = composed("self.requireds.a('ConfigMap', 'v1')")
    assert first.requirements is not None
    assert first.requirements.resources == {"a": ResourceSelector("v1", "ConfigMap")}
    assert first.conditions == ()
    second = composed("self.requireds.a('ConfigMap', 'v1')", context=first.context)
    assert [condition.reason for condition in second.conditions] == ["AllComposed"]
    other = composed("self.requireds.a('ConfigMap', 'v1')", "pass", context=first.context)
    assert other.conditions == ()


def test_the_logger_is_there_and_writes_nowhere() -> None:
    lines = ("self.logger.info('a %s', 'b')", "self.logger.debug(f'{self.spec}')", "print('c')")
    answer = composed(*lines, "self.status.name = self.logger.name")
    assert status_of(answer) == {"name": "org.example.Shop.corner"}


def test_a_schema_and_a_message_show_as_text() -> None:
    answer = composed(
        "schema = self.schemas.s('Shop', 'v1')",
        "self.status.schema = [str(schema), format(schema, 'jsonc')]",
        "self.status.same = [schema == self.schemas.s, schema == {'type': 'object'}, hash(schema) != 0]",
        "self.status.meta = str(self.response.meta)",
        "self.status.json = format(self.response.meta, 'jsonc')",
        "self.status.text = format(self.response.desired, 'protobuf')",
        "self.status.lost = str(self.response.desired.resources.x)",
        required_schemas={"s": {"type": "object"}},
        desired=State(None, {"a": Resource({"n": 1.0}, {"k": b"\xff"}, READY_TRUE)}),
    )
    status = status_of(answer)
    assert status["schema"] == ["type: object\n", '{"type":"object"}']
    assert status["same"] == [True, True, True]
    assert status["meta"] == "tag: t\nttl:\n  nanos: 0\n  seconds: 60\n"
    assert status["json"] == '{"tag":"t","ttl":{"nanos":0,"seconds":60}}'
    assert 'key: "a"\n  value {\n    resource {' in status["text"]
    assert 'value: "\\377"' in status["text"]
    assert "ready: READY_TRUE" in status["text"]
    assert status["lost"].startswith("connection_details: {}\nready: <<UNKNOWN>>")


def test_an_unknown_detail_cannot_be_a_text() -> None:
    program = (
        "class Shop(BaseComposite):\n  def compose(self):\n"
        "    self.status.x = f'{self.resources.db.connection.user}'\n"
    )
    message = fatal_message(answered(program))
    assert "request.observed.resources.db.connection_details.user is unknown" in message
