"""kill -9 of the PostgreSQL provider after each of its effects: nothing is leaked, nothing made twice."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.support.effect_proxies import api_proxy, postgres_proxy
from tests.support.patience import PATIENCE
from tests.support.postgresql_provider import DATABASE, GRANT, ROLE, USAGE, ProviderBench, until
from tests.support.provider_process import ProviderProcess, plain_kubeconfig

pytestmark = [pytest.mark.xdist_group("postgresql"), pytest.mark.time_limit(60 * PATIENCE)]

KINDS = (ROLE, DATABASE, GRANT)
MOST_EFFECTS = 60
LENGTHS = (1, 2, 3, 5, 8)
"""After how many effects a life ends. One would not do: a password that is set must also be published."""

Done = Callable[[], Awaitable[bool]]


class Mortal:
    """A provider that is killed after some effects, before it gets the response to the last one."""

    def __init__(self) -> None:
        self.provider: ProviderProcess | None = None
        self._left: int | None = None

    def after_effect(self, effect: str) -> None:
        if self._left is not None and self.provider is not None:
            self._left -= 1
            if self._left == 0:
                self.provider.kill()

    async def live(self, is_done: Done, effects: int | None = None) -> bool:
        """Run until something is done, or until it died; whether it died."""
        assert self.provider is not None
        provider, self._left = self.provider, effects
        provider.start()

        async def is_over() -> bool:
            return not provider.is_running or await is_done()

        await until(is_over, 3 * PATIENCE)
        died = not provider.is_running
        self._left = None
        provider.stop()
        return died


@pytest.fixture
async def mortal(bench: ProviderBench) -> AsyncIterator[Mortal]:
    mortal = Mortal()
    async with (
        api_proxy(bench.client, mortal.after_effect) as url,
        postgres_proxy(bench.postgres.host, bench.postgres.port, mortal.after_effect) as port,
    ):
        await bench.configure(port=str(port))
        kubeconfig = plain_kubeconfig(bench.directory / "kubeconfig", url)
        mortal.provider = ProviderProcess("postgresql", kubeconfig, bench.directory / "provider.log")
        yield mortal
        mortal.provider.stop()


def is_created(bench: ProviderBench, name: str) -> Done:
    async def exists() -> bool:
        return all([await bench.are_ready(kind, [name]) for kind in KINDS])

    return exists


def gone(bench: ProviderBench, name: str) -> Done:
    async def is_gone() -> bool:
        return not [kind for kind in KINDS if await bench.get(kind, name)]

    return is_gone


async def test_killed_after_any_one_effect_it_leaks_nothing_and_makes_nothing_twice(
    bench: ProviderBench, mortal: Mortal
):
    before = bench.postgres.names()
    deaths = 0
    for effects in range(1, MOST_EFFECTS):
        name = f"fragile-{effects}"
        await bench.apply_app(name)
        died = await mortal.live(is_created(bench, name), effects)
        await mortal.live(is_created(bench, name))
        await check_created_once(bench, name)
        assert bench.postgres.names() - before == {name}
        await bench.delete_app(name)
        died_on_deletion = await mortal.live(gone(bench, name), effects)
        await mortal.live(gone(bench, name))
        assert bench.postgres.names() == before
        assert await bench.data_of(f"{name}-role") == {}
        deaths += died + died_on_deletion
        if not died and not died_on_deletion:
            break  # it has fewer effects than that
    await until(lambda: _has_no_usages(bench), PATIENCE)
    assert deaths > 20


async def test_killed_repeatedly_it_converges(bench: ProviderBench, mortal: Mortal):
    before = bench.postgres.names()
    await bench.apply_app("fragile")
    for effects in itertools.islice(itertools.cycle(LENGTHS), MOST_EFFECTS):
        if not await mortal.live(is_created(bench, "fragile"), effects):
            break
    await mortal.live(is_created(bench, "fragile"))
    await check_created_once(bench, "fragile")
    await bench.delete_app("fragile")
    for effects in itertools.islice(itertools.cycle(LENGTHS), MOST_EFFECTS):
        if not await mortal.live(gone(bench, "fragile"), effects):
            break
    await mortal.live(gone(bench, "fragile"))
    assert bench.postgres.names() == before


async def check_created_once(bench: ProviderBench, name: str) -> None:
    secret = await bench.data_of(f"{name}-role")
    assert bench.postgres.can_log_in(name, secret["password"], name)
    created = [text for text in bench.postgres.successful_statements() if text.startswith("CREATE")]
    assert sorted(text.partition(" PASSWORD")[0] for text in created if f'"{name}"' in text) == [
        f'CREATE DATABASE "{name}" OWNER = "{name}"',
        f'CREATE ROLE "{name}"',
    ]


async def _has_no_usages(bench: ProviderBench) -> bool:
    return not (await bench.client.list(USAGE)).items
