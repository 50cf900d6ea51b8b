"""What the flags of `crossply controller` mean, from the command line and from the environment."""

from __future__ import annotations

import io

import aiohttp
import pytest

from crossply.cli.controller.command import shards_of, timing_of
from crossply.cli.controller.feature_and_limit_flags import options_of
from crossply.cli.controller.function_flags import call_settings
from crossply.cli.controller.package_flags import runtime_settings
from crossply.cli.framework.command import Invocation, UsageError
from crossply.cli.framework.parser import Parsed, parse
from crossply.control.controller_context import CircuitLimits
from crossply.control.options import Options
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.runtimes.package_runtime_choice import PackageRuntimes
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.lease_objects import Timing
from crossply.record.http_pages import probes


def called(*words: str, **environ: str) -> Invocation:
    parsed = Parsed()
    values = parse(["controller", *words], environ, parsed)
    out = io.StringIO()
    return Invocation(
        parsed.path, values, parsed.values, stdin=out, stdout=out, stderr=out, environ=environ, config={}
    )


DEFAULT_OPTIONS = Options(packages=PackageSettings("/cache/xpkg"))
"""The defaults without flags: those of the library, and the package cache in the volume of the chart."""


def test_without_flags_everything_is_as_the_library_has_it() -> None:
    assert options_of(called()) == DEFAULT_OPTIONS
    assert call_settings(called()) == Options().calls
    assert runtime_settings(called()) == Options().runtimes
    assert timing_of(called()) == Timing()


def test_flags_of_crossplane_set_limits_and_intervals() -> None:
    words = ["--max-reconcile-rate=7", "--min-poll-interval=5s", "--circuit-breaker-burst=3.5"]
    words += ["--circuit-breaker-refill-rate=0.5", "--circuit-breaker-cooldown=1m"]
    assert options_of(called(*words)) == DEFAULT_OPTIONS._replace(
        concurrency=7, shortest_poll=5.0, circuit=CircuitLimits(burst=3.5, refill=0.5, cooldown=60.0)
    )


def test_another_user_can_write_objects_that_no_composition_may_touch() -> None:
    assert options_of(called(KEEPER="somebody")).keeper == "somebody"
    assert options_of(called("--keeper=crossply:keeper")) == DEFAULT_OPTIONS._replace(
        keeper="crossply:keeper"
    )


def test_flags_choose_the_runtime_of_packages_and_the_calls_of_functions() -> None:
    settings = runtime_settings(
        called("--package-runtime=Provider=External;Function=Container", "-n", "home")
    )
    assert settings.packages == PackageRuntimes("Container", "External")
    assert settings.credentials.namespace == "home"
    words = ["--max-concurrent-function-calls=3", "--max-function-reply-size=16", "--xfn-cache-dir=here"]
    calls = call_settings(called(*words, "--enable-function-response-cache", "--xfn-cache-max-ttl=1m"))
    assert (calls.at_once, calls.max_reply) == (3, 16 << 20)
    assert calls.store is not None
    assert calls.store.directory.endswith("here")
    assert calls.store.max_ttl == 60.0


def test_flags_that_have_no_meaning_here_are_accepted() -> None:
    assert options_of(called("-l", "--sync-interval=2h", "--poll-interval=10s")) == DEFAULT_OPTIONS


def test_the_environment_sets_namespace_replica_and_shards() -> None:
    invocation = called(POD_NAMESPACE="home", POD_NAME="pod-1", LEADER_ELECTION="true", SHARDS="4")
    assert (invocation["namespace"], invocation["replica"], invocation["shards"]) == ("home", "pod-1", 4)


async def test_a_controller_without_shards_works_alone() -> None:
    async with Client(ClusterConfig(server="http://127.0.0.1:1")) as client:
        assert shards_of(called("--shards=0"), client) is None
        assert shards_of(called(), client) is not None


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("--circuit-breaker-burst=none", "no number"),
        ("--circuit-breaker-refill-rate=0", "never again is no rate"),
        ("--circuit-breaker-burst=inf", "no limit is no limit"),
        ("--lease-duration=10ms", "nobody can renew so often"),
    ],
)
def test_nonsense_is_refused(word, why) -> None:
    with pytest.raises(UsageError):
        timing_of(called(word))


async def test_probes_report_liveness_and_readiness() -> None:
    ready = False
    async with probes("127.0.0.1", 0, lambda: ready) as port, aiohttp.ClientSession() as session:

        async def status_of(path: str) -> int:
            async with session.get(f"http://127.0.0.1:{port}/{path}") as answer:
                return answer.status

        assert [await status_of("healthz"), await status_of("readyz")] == [200, 503]
        ready = True
        assert await status_of("readyz") == 200
