"""The controllers of packages, of their revisions and of the Lock: what each reconciles and watches.

A package is reconciled when one of its revisions changes, and when an ImageConfig for its image or a Secret
that it is fetched with does. A revision is reconciled when the Lock changes and it depends on others, when an
ImageConfig for its image or a Secret that it is fetched with changes, and when an object that it installed
is changed or deleted. The Lock is reconciled when ImageConfigs or Secrets for missing dependencies change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson

from crossply.compose.object_metadata import controller_of, metadata_of, name_of
from crossply.control.controller_context import Plane
from crossply.control.definitions.definition_indexes import CRD_METADATA
from crossply.control.kinds import COMPOSITION, DEFINITION, IMAGE_CONFIG, LOCK, MANAGED_DEFINITION
from crossply.control.managed_definitions.definition_informer import DIGEST, acquire_definitions
from crossply.control.package_manager.dependency_reconciler import DependencyReconciler
from crossply.control.package_manager.fetch_watches import FetchWatches, KeysOfImages
from crossply.control.package_manager.lock import PackageLock
from crossply.control.package_manager.package_fetcher import PackageFetcher
from crossply.control.package_manager.package_image_resolution import Identities
from crossply.control.package_manager.package_kinds import PACKAGE_KINDS, PackageKind
from crossply.control.package_manager.package_reconciler import PackageReconciler, package_of
from crossply.control.package_manager.provider_role_reconciler import provider_role_controller
from crossply.control.package_manager.revision_reconciler import PackageRevisionReconciler
from crossply.control.package_manager.unreconciled_resources import unreconciled_controller
from crossply.kube.controller import Controller, EnqueuedKeys, Spec, Watch, by_name, controller_name
from crossply.kube.core_kinds import CRD
from crossply.kube.informer import Informer
from crossply.kube.list_options import EVERYTHING
from crossply.kube.watch import Key
from crossply.values import Object
from crossply.xpkg.image_config_selection import prefixes


def package_controllers(
    plane: Plane, identities: Identities, fetch_watches: FetchWatches, rollout: bool
) -> list[Controller]:
    """A controller for each kind of package; with `rollout`, several revisions may be active."""
    return [_packages(plane, kind, identities, fetch_watches, rollout) for kind in PACKAGE_KINDS]


def revision_controllers(
    plane: Plane,
    fetching: PackageFetcher,
    fetch_watches: FetchWatches,
    namespace: str,
    converts: bool = True,
) -> list[Controller]:
    """A controller for each kind of package revision, for the Lock, and for roles and resources of Providers.

    With `converts`, CRDs of Providers become ManagedResourceDefinitions.
    """
    locking = PackageLock(plane)
    revisions = [
        _revisions(
            plane,
            PackageRevisionReconciler(plane, kind, fetching, locking, namespace, converts),
            kind,
            fetch_watches,
        )
        for kind in PACKAGE_KINDS
    ]
    dependencies = _dependencies(plane, DependencyReconciler(plane, fetching), fetch_watches)
    return [*revisions, dependencies, unreconciled_controller(plane), provider_role_controller(plane)]


def _dependencies(plane: Plane, reconciler: DependencyReconciler, fetch_watches: FetchWatches) -> Controller:
    locks = plane.informers.acquire(LOCK)

    def waiting(is_concerned: Callable[[str], bool]) -> Iterable[Key]:
        return locks.keys() if any(map(is_concerned, reconciler.missing_sources())) else ()

    spec = Spec(
        name=controller_name("package-dependencies", LOCK),
        reconciles=locks,
        reconcile=by_name(reconciler.reconcile),
        watches=[
            Watch(plane.informers.acquire(IMAGE_CONFIG), lambda key, old, new: waiting(lambda _: True)),
            *fetch_watches.watches(waiting),
        ],
    )
    return Controller(plane, spec)


def _packages(
    plane: Plane, kind: PackageKind, identities: Identities, fetch_watches: FetchWatches, rollout: bool
) -> Controller:
    reconciler = PackageReconciler(plane, kind, identities, rollout)
    spec = Spec(
        name=controller_name("packages", reconciler.packages.kind),
        reconciles=reconciler.packages,
        reconcile=by_name(reconciler.reconcile),
        watches=[
            Watch(reconciler.revisions, _packages_of_revision),
            Watch(plane.informers.acquire(IMAGE_CONFIG), _packages_with_image(reconciler)),
            *fetch_watches.watches(
                lambda is_concerned: _fetched(reconciler.packages, "package", is_concerned)
            ),
        ],
    )
    return Controller(plane, spec)


def _fetched(informer: Informer, field: str, is_concerned: Callable[[str], bool]) -> Iterable[Key]:
    """The packages or revisions whose image, in a field of their spec, passes a check."""
    for data in informer.objects():
        obj = orjson.loads(data)
        if is_concerned(obj["spec"].get(field, "")):
            yield "", name_of(obj)


def _packages_of_revision(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
    """A change of a revision concerns its package, also the one that it was of before."""
    for data in filter(None, (old, new)):
        for name in package_of(orjson.loads(data)):
            yield "", name


def _packages_with_image(reconciler: PackageReconciler) -> EnqueuedKeys:
    """A change of an ImageConfig concerns the packages whose image it is for, or was for."""
    return lambda key, old, new: [
        ("", name) for name in reconciler.with_image_like(_changed_prefixes(old, new))
    ]


def _revisions(
    plane: Plane, reconciler: PackageRevisionReconciler, kind: PackageKind, fetch_watches: FetchWatches
) -> Controller:
    revisions = plane.informers.acquire(kind.revision)
    installed = [
        Watch(
            plane.informers.acquire(object_kind, CRD_METADATA if object_kind is CRD else EVERYTHING),
            _revision_of_object(reconciler, kind, object_kind.kind),
        )
        for object_kind in (CRD, DEFINITION, COMPOSITION)
    ]
    definitions = acquire_definitions(plane.informers)
    installed.append(Watch(definitions, _revision_of_object(reconciler, kind, MANAGED_DEFINITION.kind)))
    spec = Spec(
        name=controller_name("package-revisions", kind.revision),
        reconciles=revisions,
        reconcile=by_name(reconciler.reconcile),
        watches=[
            Watch(plane.informers.acquire(LOCK), _dependents(reconciler)),
            Watch(plane.informers.acquire(IMAGE_CONFIG), _revisions_with_image(reconciler, revisions)),
            *fetch_watches.watches(_fetched_again(reconciler, revisions)),
            *installed,
        ],
    )
    return Controller(plane, spec)


def _fetched_again(reconciler: PackageRevisionReconciler, revisions: Informer) -> KeysOfImages:
    """A revision that could not be fetched is fetched at once; what is installed is not fetched again."""

    def keys(is_concerned: Callable[[str], bool]) -> Iterable[Key]:
        for key in _fetched(revisions, "image", is_concerned):
            reconciler.end_pause(key[1])
            yield key

    return keys


def _dependents(reconciler: PackageRevisionReconciler) -> EnqueuedKeys:
    """A change of the Lock concerns the revisions that depend on others."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        if _locked(old) == _locked(new):
            return ()
        return [("", name) for name in reconciler.depending()]

    return keys


def _locked(lock: bytes | None) -> list[Object]:
    packages: list[Object] = (orjson.loads(lock) if lock else {}).get("packages") or []
    return packages


def _revisions_with_image(reconciler: PackageRevisionReconciler, revisions: Informer) -> EnqueuedKeys:
    """A change of an ImageConfig concerns the revisions whose image it is for, or was for."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        changed = _changed_prefixes(old, new)
        for data in revisions.objects():
            revision = orjson.loads(data)
            image = revision["spec"].get("image", "")
            resolved = (revision.get("status") or {}).get("resolvedImage", "")
            if image.startswith(changed) or resolved.startswith(changed):
                reconciler.forget(revision["metadata"]["name"])
                yield "", revision["metadata"]["name"]

    return keys


def _changed_prefixes(old: bytes | None, new: bytes | None) -> tuple[str, ...]:
    configs = [orjson.loads(data) for data in filter(None, (old, new))]
    return tuple(prefix for config in configs for prefix in prefixes(config))


def _revision_of_object(
    reconciler: PackageRevisionReconciler, kind: PackageKind, object_kind: str
) -> EnqueuedKeys:
    """A change that the reconciler did not make itself: another fingerprint than the one that it left.

    An object whose controller changes, or gives it up, also concerns the revisions that wait for it.
    """

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        waiting = reconciler.refused(key[1])
        if waiting and _controller_uid(old) != _controller_uid(new):
            yield from (("", name) for name in waiting)
        # Gone is what was controlled; what changed is controlled still, or was so before.
        for data in (new, old):
            owner = controller_of(orjson.loads(data)) if data else None
            if owner is None or owner.get("kind") != kind.revision.kind:
                continue
            name = str(owner.get("name", ""))
            left = reconciler.established(name).get((object_kind, key[1]))
            now = _fingerprint(orjson.loads(new)) if new else None
            if left is not None and left != now:
                reconciler.forget(name)
                yield "", name
            return

    return keys


def _controller_uid(data: bytes | None) -> str | None:
    owner = controller_of(orjson.loads(data)) if data else None
    return str(owner.get("uid")) if owner is not None else None


def _fingerprint(obj: Object) -> int | str | None:
    """A definition that is activated was not changed, though its generation is another."""
    return obj.get(DIGEST) or metadata_of(obj).get("generation")
