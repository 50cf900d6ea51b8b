"""Pictures of pages for the documentation: made only where CROSSPLY_SCREENSHOTS names a directory."""

from __future__ import annotations

import os
import pathlib

from playwright.async_api import Page

DIRECTORY = os.environ.get("CROSSPLY_SCREENSHOTS", "")
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 780}


async def take_screenshot(page: Page, name: str) -> None:
    """Write what the page shows to NAME.png."""
    if DIRECTORY:
        await page.evaluate("document.activeElement && document.activeElement.blur()")
        await page.evaluate("scrollTo(0, 0)")
        await page.screenshot(path=pathlib.Path(DIRECTORY) / f"{name}.png", animations="disabled")
