"""The events of a watch as its client gets them: selected, at the version of the request, in its form."""

from __future__ import annotations

from crossply.apiserver.builtin import blank
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form
from crossply.apiserver.endpoints.replies import FACTORS, encoded_event, shaped
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.registry.selectors import fields_match, keys_match, labels_match
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event
from crossply.apiserver.stored_object_codec import State, state_of
from crossply.apiserver.verbs.watch_options import WatchOptions
from crossply.values import Object


class WatchEventEncoder:
    """Encodes the store's events for one watch."""

    __slots__ = ("_call", "_columns_sent", "_context", "_form", "_options", "_plain")

    def __init__(self, context: ServerContext, call: Call, options: WatchOptions, form: Form) -> None:
        self._context = context
        self._call = call
        self._options = options
        self._form = form
        self._columns_sent = False
        self._plain = form.is_plain and call.resource.is_stored_at(call.version.name)

    async def encode(self, event: Event) -> bytes:
        """The event for the client; empty when its selectors do not select the object."""
        if self._is_as_stored(event):
            kind = self._kind(event) if not self._options.selects_all else event.type
            if kind == event.type or (kind == "ADDED" and event.type == "MODIFIED"):
                return b'{"type":"' + kind.encode() + b'","object":' + event.data + b"}\n"
            if kind == "":
                return b""
        return await self._encode_converted(event)

    def bookmark(self, revision: int, *, ends_initial_events: bool) -> bytes:
        metadata: Object = {"resourceVersion": str(revision)}
        if ends_initial_events:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        columns_sent, self._columns_sent = self._columns_sent, True
        return self._written("BOOKMARK", self._blank_object(metadata), columns_sent)

    def error(self, problem: StatusError) -> bytes:
        return encoded_event("ERROR", problem.body(), self._form)

    def _is_as_stored(self, event: Event) -> bool:
        """Whether the client sees the stored states of the object unchanged."""
        if not self._plain or event.revision < self._call.resource.since:
            return False
        return (
            self._options.selects_all
            or not event.previous
            or (event.previous_revision >= self._call.resource.since)
        )

    async def _encode_converted(self, event: Event) -> bytes:
        """As `encode`, for an event that cannot be sent as it is stored."""
        decode = self._context.decoded.get
        obj = await self._converted(decode(state_of(event)))
        if self._options.selects_all:
            return await self._encode(event, event.type, obj)
        previous = event.before()
        before = obj if previous is None else await self._converted(decode(state_of(previous)))
        kind, sent = self._selected_object(event, obj, before)
        return await self._encode(event, kind, sent) if kind else b""

    async def _converted(self, obj: Object) -> Object:
        """An object at the version of the request."""
        return await convert_one(self._context, self._call.resource, obj, self._call.version.name)

    async def _encode(self, event: Event, kind: str, obj: Object) -> bytes:
        """An event in the form of this watch. All watches of this form share the encoded bytes."""
        run = self._context.background.run
        if self._form.shape == "table":
            # A table contains ages, so it is encoded anew each time.
            columns_sent, self._columns_sent = self._columns_sent, True
            return await run(len(event.data), lambda: self._written(kind, obj, columns_sent))
        resource = self._call.resource
        key = (event.key, event.revision, kind, resource.since, self._call.version.name, self._form)
        encoded = self._context.decoded.cached_encoding(key)
        if encoded is None:
            weight = 0 if self._form.is_plain else len(event.data) * FACTORS.get(self._form.media, 1)
            encoded = await run(weight, lambda: self._written(kind, obj, True))
            self._context.decoded.cache_encoding(key, encoded)
        return encoded

    def _written(self, kind: str, obj: Object, columns_sent: bool) -> bytes:
        body = shaped(self._call, obj, self._form)
        if self._form.shape == "table" and columns_sent:
            body = {**body, "columnDefinitions": None}  # only the first event has the columns
        return encoded_event(kind, body, self._form)

    def _kind(self, event: Event) -> str:
        """The type of the event for a client with selectors; the object is sent as it is stored."""
        previous = event.before()
        before = previous is not None and self._selects(state_of(previous))
        return _selected_kind(event, self._selects(state_of(event)), before)

    def _selected_object(self, event: Event, obj: Object, previous: Object) -> tuple[str, Object]:
        """The type of the event for a client with selectors, and the object to send."""
        before = event.previous is not None and self._selects_object(previous)
        kind = _selected_kind(event, self._selects_object(obj), before)
        # An object that leaves the selection is sent in its last selected state, at the new resourceVersion.
        left = kind == "DELETED" and event.type != "DELETED"
        return kind, with_version_of(previous, obj) if left else obj

    def _selects(self, state: State) -> bool:
        """Whether the selectors select a stored object, which is decoded only if they need it."""
        decoded, options = self._context.decoded, self._options
        if not keys_match(options.key_fields, state.key):
            return False
        if options.labels and not labels_match(options.labels, decoded.labels(state)):
            return False
        return not options.content_fields or fields_match(options.content_fields, decoded.get(state))

    def _selects_object(self, obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return labels_match(self._options.labels, labels) and fields_match(self._options.fields, obj)

    def _blank_object(self, metadata: Object) -> Object:
        """An object of the kind with nothing but metadata."""
        resource, version = self._call.resource, self._call.version.name
        head = {"kind": resource.names.kind, "apiVersion": resource.api_version(version)}
        if resource.custom:
            return {**head, "metadata": {**metadata, "creationTimestamp": None}}
        return {**blank(resource, version), **head, "metadata": metadata}


def _selected_kind(event: Event, now: bool, before: bool) -> str:
    """The type of an event for a client that selects the object now, or did before; empty if neither."""
    if event.type == "ADDED":
        return "ADDED" if now else ""
    if event.type == "DELETED":
        return "DELETED" if before or now else ""
    if now:
        return "MODIFIED" if before else "ADDED"
    return "DELETED" if before else ""


def with_version_of(obj: Object, other: Object) -> Object:
    """An object with the resourceVersion of another."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": other["metadata"]["resourceVersion"]}}
