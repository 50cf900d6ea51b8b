"""Pictures of pages for the documentation: made only where CROSSPLY_SCREENSHOTS names a directory."""

from __future__ import annotations

import os
import pathlib

from playwright.async_api import Page

DIRECTORY = os.environ.get("CROSSPLY_SCREENSHOTS", "")
WIDE = {"width": 1200, "height": 720}
PHONE = {"width": 360, "height": 780}


async def take_screenshot(page: Page, name: str, part: str = "") -> None:
    """Write what the page shows, or the part that a selector names, to NAME.png."""
    path = pathlib.Path(DIRECTORY) / f"{name}.png"
    if part and DIRECTORY:
        await page.evaluate("document.querySelector('header').style.position = 'static'")
        await page.locator(part).screenshot(path=path, animations="disabled")
    elif DIRECTORY:
        await page.evaluate("document.activeElement && document.activeElement.blur()")
        await page.evaluate("scrollTo(0, 0)")
        await page.screenshot(path=path, animations="disabled")
