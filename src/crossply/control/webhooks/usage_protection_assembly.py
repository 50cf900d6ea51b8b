"""Protection by Usages as a whole: who uses what, the webhook that refuses deletions, the controller."""

from __future__ import annotations

from crossply.control.controller_context import Plane
from crossply.control.usages.controllers import UsageControllers
from crossply.control.usages.usage_index import Usages
from crossply.control.webhooks.webhook_address import WebhookSettings
from crossply.control.webhooks.webhook_lifecycle import Webhooks


class UsageProtection:
    """Starts and stops with the control plane."""

    def __init__(self, plane: Plane, settings: WebhookSettings | None) -> None:
        """Without settings there are no webhooks: Usages say what is in use, and nothing enforces it."""
        self._usages = Usages(plane)
        self._webhooks = Webhooks(plane, self._usages, settings) if settings is not None else None
        self._controller = UsageControllers(plane, self._usages)

    async def start(self) -> None:
        """Be able to refuse before anything is marked as in use."""
        await self._usages.open()
        if self._webhooks is not None:
            await self._webhooks.start()
        self._controller.start()

    async def stop(self) -> None:
        """Answer until the work has ended; nothing is undone."""
        await self._controller.stop()
        if self._webhooks is not None:
            await self._webhooks.stop()
