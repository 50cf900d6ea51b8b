"""kill -9 of the PostgreSQL provider after each of its effects: nothing is leaked, nothing made twice."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from tests.support.effect_proxies import api_proxy, postgres_proxy
from tests.support.patience import PATIENCE
from tests.support.postgresql_provider import DATABASE, GRANT, ROLE, USAGE, ProviderBench, until
from tests.support.provider_process import ProviderProcess, plain_kubeconfig

pytestmark = [pytest.mark.xdist_group("postgresql"), pytest.mark.time_limit(20 * PATIENCE)]

LIVES = 80
LENGTHS = (1, 2, 3, 5, 8)
"""After how many effects a life ends. One would not do: a password that is set must also be published."""


class Killer:
    """Kills a process when it had some effects, before it hears of the last one."""

    def __init__(self) -> None:
        self.effects: Counter[str] = Counter()
        self._process: ProviderProcess | None = None
        self._left = 0

    def after_effect(self, effect: str) -> None:
        self.effects[effect.split("/")[0][:40]] += 1
        if self._process is not None:
            self._left -= 1
            if self._left == 0:
                self._process.kill()

    def spare(self) -> None:
        self._process = None

    def expect_death(self, process: ProviderProcess, effects: int) -> None:
        self._process, self._left = process, effects


async def test_killed_after_every_effect_it_leaks_nothing_and_makes_nothing_twice(bench: ProviderBench):
    killer = Killer()
    async with (
        api_proxy(bench.client, killer.after_effect) as url,
        postgres_proxy(bench.postgres.host, bench.postgres.port, killer.after_effect) as port,
    ):
        await bench.configure(port=str(port))
        kubeconfig = plain_kubeconfig(bench.directory / "kubeconfig", url)
        provider = ProviderProcess("postgresql", kubeconfig, bench.directory / "provider.log")
        before = bench.postgres.names()
        await bench.apply_app("fragile")
        lives = await _live_and_die(provider, killer, lambda: bench._are_ready(GRANT, ["fragile"]))
        provider.start()
        for kind in (ROLE, DATABASE, GRANT):
            await bench.until_ready(kind, "fragile")
        secret = await bench.data_of("fragile-role")
        assert bench.postgres.can_log_in("fragile", secret["password"], "fragile")
        assert bench.postgres.names() - before == {"fragile"}
        created = [text for text in bench.postgres.successful_statements() if text.startswith("CREATE")]
        assert sorted(text.partition(" PASSWORD")[0] for text in created if '"fragile"' in text) == [
            'CREATE DATABASE "fragile" OWNER = "fragile"',
            'CREATE ROLE "fragile"',
        ]
        provider.stop()

        await bench.delete_app("fragile")

        async def is_gone() -> bool:
            return not [kind for kind in (ROLE, DATABASE, GRANT) if await bench.get(kind, "fragile")]

        lives += await _live_and_die(provider, killer, is_gone)
        provider.start()
        for kind in (ROLE, DATABASE, GRANT):
            await bench.until_gone(kind, "fragile")
        provider.stop()
    assert bench.postgres.names() == before
    assert await bench.data_of("fragile-role") == {}
    await until(lambda: _has_no_usages(bench), PATIENCE)
    assert lives > 10, killer.effects


async def _live_and_die(provider: ProviderProcess, killer: Killer, is_done: object) -> int:
    """Start the provider again and again, each time for a few effects; how often it died."""
    for life, length in zip(range(LIVES), itertools.cycle(LENGTHS), strict=False):
        killer.expect_death(provider, length)
        provider.start()

        async def is_dead_or_done() -> bool:
            return not provider.is_running or await is_done()  # type: ignore[operator]

        await until(is_dead_or_done, 2 * PATIENCE)
        if provider.is_running:
            killer.spare()
            provider.stop()
            return life
        provider.kill()
    raise AssertionError(f"not done after {LIVES} lives: {killer.effects}")


async def _has_no_usages(bench: ProviderBench) -> bool:
    return not (await bench.client.list(USAGE)).items
