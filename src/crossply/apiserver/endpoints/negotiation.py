"""Content negotiation: JSON, YAML or protobuf; objects, tables or metadata only."""

from __future__ import annotations

from dataclasses import dataclass

from crossply.apiserver.endpoints.body_decoding import JSON, MEDIA_TYPES, PROTOBUF, YAML
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError, not_acceptable, not_available

_AS = {"Table": "table", "PartialObjectMetadata": "partial", "PartialObjectMetadataList": "partial"}


@dataclass(frozen=True, slots=True)
class Form:
    """The negotiated form of a response."""

    media: str = JSON
    shape: str = "object"
    """object, table or partial."""
    meta_version: str = "v1"

    @property
    def is_plain(self) -> bool:
        """Whether stored bytes can be sent unchanged."""
        return self.media == JSON and self.shape == "object"


PLAIN = Form()


def negotiate(accept: str) -> Form:
    """The first form of an Accept header that the server supports; raises NotAcceptable."""
    if not accept or accept in (JSON, "*/*"):
        return PLAIN
    for clause in _by_quality(accept):
        form = _form(*_parsed(clause))
        if form is not None:
            return form
    raise not_acceptable(MEDIA_TYPES)


def negotiate_for(call: Call) -> Form:
    """As `negotiate`, for a response about objects: also protobuf, if the client accepts nothing else.

    Custom resources have no protobuf form, but their metadata does.
    """
    accept = call.headers.get("Accept", "")
    if PROTOBUF in accept and (form := _preferred_metadata(accept)) is not None:
        return form
    try:
        return negotiate(accept)
    except StatusError:
        for clause in _by_quality(accept):
            form = _protobuf_form(*_parsed(clause))
            if form is not None and (form.shape == "partial" or not call.resource.custom):
                return form
        if not call.resource.custom and "as=" not in accept:
            raise not_available(MEDIA_TYPES) from None
        raise


def _preferred_metadata(accept: str) -> Form | None:
    """The protobuf form of metadata, if the client prefers it.

    Go clients that get metadata as JSON keep the kind of each item, and then treat it as different.
    """
    form = _protobuf_form(*_parsed(_by_quality(accept)[0]))
    return form if form is not None and form.shape == "partial" else None


def _parsed(clause: str) -> tuple[str, dict[str, str]]:
    """The media type of a clause, and its parameters."""
    media, *parameters = [part.strip() for part in clause.split(";")]
    return media.lower(), dict(part.partition("=")[::2] for part in parameters)


def _protobuf_form(media: str, options: dict[str, str]) -> Form | None:
    form = _shape(options, PROTOBUF) if media == PROTOBUF else None
    # Tables have no protobuf form, and only the current version of metadata has one.
    return form if form is not None and form.shape != "table" and form.meta_version == "v1" else None


def _by_quality(accept: str) -> list[str]:
    clauses = [clause for clause in accept.split(",") if clause.strip()]
    return sorted(clauses, key=_quality, reverse=True)


def _quality(clause: str) -> float:
    for part in clause.split(";")[1:]:
        key, _, value = part.strip().partition("=")
        if key == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _form(media: str, options: dict[str, str]) -> Form | None:
    if media in ("*/*", "application/*"):
        media = JSON
    # Clients that offer protobuf accept JSON as well, which is cheaper to encode, so they get JSON.
    return _shape(options, media) if media in (JSON, YAML) else None


def _shape(options: dict[str, str], media: str) -> Form | None:
    kind = options.get("as")
    if kind is None:
        return Form(media)
    if kind not in _AS or options.get("g", "meta.k8s.io") != "meta.k8s.io":
        return None
    version = options.get("v", "v1")
    return Form(media, _AS[kind], version) if version in ("v1", "v1beta1") else None
