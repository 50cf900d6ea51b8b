"""A real Chromium, and the dashboard as a process that it opens.

    pytestmark = [
        needs("chromium"),
        pytest.mark.xdist_group("browser"),
        pytest.mark.asyncio(loop_scope="session"),
    ]

    async def test_the_overview_opens(browser, dashboard):
        page = await dashboard.open(browser)
        await expect(page.get_by_role("heading", name="Overview")).to_be_visible()

One Chromium serves all tests of a run: they are in one xdist group and share one event loop.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.support.control_plane import CROSSPLY
from tests.support.patience import PATIENCE
from tests.support.programs import path_of

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, without a window."""
    expect.set_options(timeout=PATIENCE * 500)
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(
            executable_path=path_of("chromium"), args=list(ARGUMENTS), chromium_sandbox=False
        )
        yield running
        await running.close()


class Dashboard:
    """A running `crossply ui`."""

    def __init__(self, address: str, pid: int = 0) -> None:
        self.pid = pid
        self.address = address
        """With a token that can be used once."""
        self.url = address.partition("/login")[0].rstrip("/")
        self._contexts: dict[int, BrowserContext] = {}

    async def context(self, browser: Browser, **options: Any) -> BrowserContext:
        """A browser profile that is logged in; the first one uses the token, later ones share its cookie."""
        context = await browser.new_context(**options)
        context.set_default_timeout(PATIENCE * 1000)
        first = self._contexts.get(id(browser))
        if first is None:
            page = await context.new_page()
            await page.goto(self.address)
            await page.wait_for_url(f"{self.url}/")
            await page.close()
            self._contexts[id(browser)] = context
        else:
            cookies: list[Any] = list(await first.cookies())
            await context.add_cookies(cookies)
        return context

    async def open(self, browser: Browser, path: str = "/", **options: Any) -> Page:
        """A page of the dashboard. What the browser reports as an error fails the test: see `errors_of`."""
        context = await self.context(browser, **options)
        page = await context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        _ERRORS[page] = errors
        await page.goto(self.url + path)
        return page


_ERRORS: dict[Page, list[str]] = {}


def errors_of(page: Page) -> list[str]:
    """What the browser complained about: errors of scripts, refusals of the content security policy."""
    return _ERRORS[page]


@contextlib.contextmanager
def running_dashboard(kubeconfig: str, log: pathlib.Path, *flags: str) -> Iterator[Dashboard]:
    """Run `crossply ui` until the end of the block."""
    command = [CROSSPLY, "ui", "--kubeconfig", kubeconfig, "--no-open", *flags]
    with open(log, "w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        match = re.fullmatch(r"dashboard: (http://\S+)\n", line)
        assert match, line + log.read_text()
        yield Dashboard(match[1], process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        process.wait(30)
