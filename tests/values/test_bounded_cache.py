"""Caches that are bounded in bytes."""

from __future__ import annotations

from crossply.values.bounded_cache import BoundedCache


def test_the_least_recently_used_is_evicted_when_the_bytes_exceed_the_limit() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10_000)
    for name in "abc":
        cache.put(name, name.upper(), 2_500)
    assert cache.get("a") == "A"
    cache.put("d", "D", 2_500)
    assert [cache.get(name) for name in "abcd"] == ["A", None, "C", "D"]
    assert cache.bytes <= 10_000


def test_many_small_values_are_bounded_too() -> None:
    cache: BoundedCache[int, None] = BoundedCache(100_000)
    for number in range(10_000):
        cache.put(number, None, 0)
    assert len(cache) < 200


def test_a_replaced_value_is_counted_once_and_a_removed_one_not_at_all() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10_000)
    for number in range(100):
        cache.put("a", number, 1_000)
    assert (len(cache), cache.get("a")) == (1, 99)
    cache.remove("a")
    cache.remove("a")
    assert (len(cache), cache.bytes) == (0, 0)


def test_a_value_that_is_larger_than_the_cache_drops_nothing_else() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10_000)
    cache.put("small", "s", 100)
    cache.put("large", "l", 20_000)
    assert (cache.get("small"), cache.get("large")) == ("s", None)
