"""An index of the configured webhooks in calling order, kept current by watching the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crossply.apiserver.admission.cel_evaluation import Conditions
from crossply.apiserver.admission.matching import Matching, read_rules, read_selector
from crossply.apiserver.storage import Event, Store
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

MUTATING = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
VALIDATING = "validatingwebhookconfigurations.admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True, eq=False)
class Webhook:
    name: str
    client: Object
    matching: Matching
    conditions: Conditions
    ignores_failure: bool
    timeout: int
    side_effects: str
    review_versions: tuple[str, ...]
    reinvoked: bool = False

    @property
    def takes_dry_runs(self) -> bool:
        """Whether it may be called in a dry run."""
        return self.side_effects in ("None", "NoneOnDryRun")


def read_webhooks(configuration: Object) -> tuple[Webhook, ...]:
    return tuple(_webhook(spec) for spec in configuration.get("webhooks") or ())


def _webhook(spec: Object) -> Webhook:
    matching = Matching(
        read_rules(spec.get("rules")),
        (),
        read_selector(spec.get("namespaceSelector")),
        read_selector(spec.get("objectSelector")),
        spec.get("matchPolicy") == "Exact",
    )
    ignores = spec.get("failurePolicy") == "Ignore"
    return Webhook(
        spec.get("name", ""),
        spec.get("clientConfig") or {},
        matching,
        Conditions(spec.get("matchConditions") or (), ignores),
        ignores,
        spec.get("timeoutSeconds") or 10,
        spec.get("sideEffects") or "Unknown",
        tuple(spec.get("admissionReviewVersions") or ()),
        spec.get("reinvocationPolicy") == "IfNeeded",
    )


class WebhookIndex:
    """The webhooks of all configurations of one kind, ordered by the names of the configurations."""

    def __init__(self, store: Store, resource: str) -> None:
        self.webhooks: tuple[Webhook, ...] = ()
        self._by_configuration: dict[str, tuple[Webhook, ...]] = {}
        for entry in store.list(resource):
            self._by_configuration[entry.key[2]] = read_webhooks(decode(entry.data))
        self._order()
        self.stop: Callable[[], None] = store.subscribe(resource, self._on_event)

    def _on_event(self, event: Event) -> None:
        if event.type == "DELETED":
            self._by_configuration.pop(event.key[2], None)
        else:
            self._by_configuration[event.key[2]] = read_webhooks(decode(event.data))
        self._order()

    def _order(self) -> None:
        self.webhooks = tuple(
            webhook for name in sorted(self._by_configuration) for webhook in self._by_configuration[name]
        )
