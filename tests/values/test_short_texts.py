"""Results for short texts are cached, and long texts are not."""

from __future__ import annotations

from crossply.values.bounded_cache import LONGEST, cached_for_short_texts
from tests.support.memory_limit import run_within


def test_short_texts_are_cached_and_long_ones_are_not() -> None:
    calls = []

    @cached_for_short_texts(8)
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    short, long = "a" * LONGEST, "a" * (LONGEST + 1)
    assert [length(short), length(short), length(long), length(long)] == [256, 256, 257, 257]
    assert calls == [short, long, long]


def test_long_keys_names_and_paths_are_not_cached() -> None:
    program = """
        import tracemalloc
        from crossply.apiserver.registry.name_validation import (
            label_value_problems,
            qualified_name_problems,
            subdomain_problems,
        )
        from crossply.apply.path_elements import canonical
        from crossply.schema.cel_types import escape
        from crossply.values.field_path import parse
        from crossply.values.regexp import compile_go

        def use(number):
            text = f"{number}" + "x" * 200_000
            for problems in (label_value_problems, qualified_name_problems, subdomain_problems):
                problems(text)
            canonical(f'v:"{text}"')
            escape(text)
            parse(text)
            compile_go(text[:20_000])

        use(0)
        tracemalloc.start()
        for number in range(1, 25):
            use(number)
        print(tracemalloc.get_traced_memory()[0] >> 20)
    """
    assert int(run_within(4 << 30, program)) < 2
