"""A developer tries out a kind: text, form, and what they make."""

import pytest
from playwright.async_api import expect

from tests.support.browser import errors_of
from tests.support.programs import needs
from tests.support.ui.running_platform import SHOP
from tests.support.ui.screenshots import WIDE, take_screenshot

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
PLAYGROUND = "/playground/shops.shop.example.org"


async def test_typed_input_is_rendered_and_chosen_values_are_written(browser, shops, platform):
    before = len((await platform.list(SHOP)).items)
    page = await shops.open(browser, PLAYGROUND, viewport=WIDE)
    result = page.locator("#result")
    await expect(result).to_contain_text("4 objects")
    await page.get_by_label("replicas").fill("4")
    await expect(page.locator("#text")).to_have_value("""\
apiVersion: shop.example.org/v1
kind: Shop
metadata:
  name: example
  namespace: default
spec:
  region: eu-west
  replicas: 4
""")
    await expect(result).to_contain_text("6 objects")
    text = await page.locator("#text").input_value()
    await page.locator("#text").fill(text.replace("eu-west", "us-east"))
    await expect(page.get_by_label("region")).to_have_value("us-east")
    await result.get_by_text("web-3", exact=True).click()
    await expect(result).to_contain_text('server: "3"')
    await take_screenshot(page, "playground")
    assert len((await platform.list(SHOP)).items) == before
    assert errors_of(page) == []


async def test_an_error_is_shown_beside_the_text_with_its_line(browser, shops):
    page = await shops.open(browser, PLAYGROUND)
    text = await page.locator("#text").input_value()
    await page.locator("#text").fill(text.replace("eu-west", "mars"))
    problem = page.locator("#problems").get_by_role("listitem")
    await expect(problem).to_contain_text('Unsupported value: "mars"')
    await problem.get_by_role("button", name="line 7").click()
    selected = await page.evaluate("getSelection().toString()")
    assert selected.strip() == "region: mars"
    await page.locator("#text").fill(text + "  replicas: 7\n")
    await expect(page.locator("#result")).to_contain_text("more than 5 web servers need an approval")


async def test_the_address_brings_the_same_playground_back(browser, shops):
    page = await shops.open(browser, f"{PLAYGROUND}?from=default/bakery")
    await expect(page.get_by_label("replicas")).to_have_value("3")
    await page.get_by_label("replicas").fill("5")
    await expect(page.locator("#result")).to_contain_text("7 objects")
    await page.wait_for_url("**/*text=*")
    second_page = await page.context.new_page()
    await second_page.goto(page.url)
    await expect(second_page.get_by_label("replicas")).to_have_value("5")
    await expect(second_page.locator("#result")).to_contain_text("7 objects")


async def test_an_item_is_added_to_a_list_and_removed(browser, shops):
    page = await shops.open(browser, PLAYGROUND)
    await page.get_by_label("Add an item").fill("a.example.org")
    await page.keyboard.press("Enter")
    await expect(page.locator("#text")).to_have_value(_containing("  domains:\n  - a.example.org\n"))
    await page.locator('[id="field-/spec/domains/0"]').fill("")
    await expect(page.locator("#text")).not_to_have_value(_containing("a.example.org"))


def _containing(text: str):
    import re

    return re.compile(re.escape(text))
