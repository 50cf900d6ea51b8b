"""Loads the inputs of a suite, from files beside it or written into it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from typing import NamedTuple

from crossply.compose.connection_secret_key_coverage import check_contract
from crossply.compose.engine_field_paths import Machinery
from crossply.compose.prepared_composition import PreparedComposition, prepare
from crossply.kinds.definition import parse_definition
from crossply.manifests.files import object_of
from crossply.rendering import inputs
from crossply.rendering.available_functions import available_functions, find_project_file
from crossply.rendering.required_schemas import apply_definition_defaults, load_schemas
from crossply.testing.reconcile_rounds import InitialState
from crossply.testing.suite import Case, Path, Source, Suite
from crossply.testing.suite_field_reader import SuiteError
from crossply.testing.upbound_tests import adopted
from crossply.values import Object
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.merge_patch import merge_patch
from crossply.values.yaml import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.validation.resource_validation import ObjectValidator

_COMPOSITION, _FUNCTIONS = "composition.yaml", "functions.yaml"


class PreparedSuite(NamedTuple):
    """What all cases of a suite share."""

    file: inputs.CompositionFile
    prepared_composition: PreparedComposition
    functions: list[Object]
    definition: Object | None
    definitions: Callable[[], list[Object]]
    """Loads the definition of the composite resource, and those of composed kinds."""
    validator: ObjectValidator | None = None
    validates_xr: bool = True

    def machinery(self, xr: Object) -> Machinery:
        """Where the engine's fields are."""
        return inputs.machinery_for(xr, self.definition)

    def defaulted(self, xr: Object) -> Object:
        """The composite resource with the defaults of its definition, if an API server would accept it."""
        xr = xr if self.definition is None else apply_definition_defaults(xr, self.definition)
        # What is no field of its status, functions may say nevertheless: the API server drops it.
        written = {key: value for key, value in xr.items() if key != "status"}
        validator = self.validator if self.validates_xr else None
        problems = validator.problems(written) if validator is not None else []
        if problems:
            raise SuiteError(
                f"an API server would refuse the composite resource: {'; '.join(problems)}",
                hint="correct it, or do without validate and crds",
            )
        return xr


def prepare_suite(suite: Suite, in_process: Collection[str] = ()) -> PreparedSuite:
    """Load what all cases share; functions whose names are `in_process` are called by other means."""
    file = _composition(suite)
    definition = None
    if suite.xrd is not None:
        definition = _one(suite, suite.xrd, ("spec", "xrd"), inputs.load_definition)
        check_contract(parse_definition(definition), file.composition)
    functions = _functions(suite, inputs.called_functions(file.composition) - set(in_process))
    definitions = cache(partial(_definitions, suite, definition))
    return PreparedSuite(
        file,
        prepare(file.composition),
        functions,
        definition,
        definitions,
        _validator(definitions()) if suite.validate else None,
        # A published test has only what is composed validated.
        validates_xr=not suite.is_upbound,
    )


def _definitions(suite: Suite, definition: Object | None) -> list[Object]:
    from crossply.project.remote_crds import definitions_in

    known = "definitions", "cannot parse YAML resource manifest"
    crds = _many(suite, suite.crds, ("spec", "crds"), lambda path: inputs.load_objects(path, *known))
    crds += [manifest.value for path in suite.apis for manifest in definitions_in(_beside(suite, path))]
    return [*crds, *([] if definition is None else [definition])]


def _validator(definitions: list[Object]) -> ObjectValidator:
    from crossply.validation.resource_validation import ObjectValidator

    return ObjectValidator(definitions)


def initial_state(suite: Suite, case: Case, prepared: PreparedSuite) -> InitialState:
    """The state before the first round of a case."""
    source = case.xr if case.xr is not None else suite.xr
    if source is None:
        raise SuiteError(
            "no composite resource: give the suite or the case an xr", place=suite.place(case.path)
        )
    xr = _one(suite, source, (*case.path, "xr"), inputs.load_composite)
    if case.xr_patch is not None:
        xr = merge_patch(xr, case.xr_patch)
    inputs.check_fit(xr, prepared.file)
    surroundings = suite.surroundings.with_more(case.surroundings)
    required = "required resources", "cannot parse YAML resource manifest"
    observed = "observed composed resources", "cannot parse YAML composed resource manifest"
    return InitialState(
        xr=xr,
        observed=[
            adopted(obj, xr) if suite.is_upbound else obj
            for obj in _many(
                suite, surroundings.observed, case.path, lambda path: inputs.load_objects(path, *observed)
            )
        ],
        required=_many(
            suite, surroundings.required, case.path, lambda path: inputs.load_objects(path, *required)
        ),
        secrets=_many(suite, surroundings.credentials, case.path, inputs.load_secrets),
        schemas=load_schemas(_beside(suite, surroundings.schemas)) if surroundings.schemas else (),
        definitions=prepared.definitions,
        context=surroundings.context,
    )


def _composition(suite: Suite) -> inputs.CompositionFile:
    source = suite.composition if suite.composition is not None else _COMPOSITION
    if isinstance(source, str):
        return inputs.load_composition(_beside(suite, source))
    # Without a text, every field of it is told to be where the suite has the Composition.
    place = suite.place(("spec", "composition"))
    document = Document(source, suite.document.source, int(place.rpartition(":")[2]))
    prefix = "cannot read the Composition of the suite"
    return inputs.composition_in(document, prefix, prefix)


def _functions(suite: Suite, called: Collection[str]) -> list[Object]:
    """The functions that the suite names or has beside it, and those that are `called` besides."""
    beside = _beside(suite, _FUNCTIONS)
    sources: tuple[Source, ...] = suite.functions or ()
    if suite.functions is None and os.path.exists(beside):
        sources = (_FUNCTIONS,)
    listed = _many(suite, sources, ("spec", "functions"), inputs.load_functions)
    return available_functions(listed, called, find_project_file(_beside(suite, "")), _best_tag)


def _best_tag(source: str, constraint: str) -> str:
    from crossply.xpkg.user_image_pull import ProcessUser, best_tag

    return best_tag(ProcessUser(os.environ, sys.stderr), source, constraint)


def _one(suite: Suite, source: Source, path: Path, load: Callable[[str], Object]) -> Object:
    return load(_beside(suite, source)) if isinstance(source, str) else _inline(suite, source, path)


def _many(
    suite: Suite, sources: Iterable[Source], path: Path, load: Callable[[str], list[Object]]
) -> list[Object]:
    objects: list[Object] = []
    for source in sources:
        objects += load(_beside(suite, source)) if isinstance(source, str) else [_inline(suite, source, path)]
    return objects


def _inline(suite: Suite, value: Object, path: Path) -> Object:
    line = int(suite.place(path).rpartition(":")[2])
    return object_of(Document(value, suite.document.source, line), "cannot read an object of the suite")


def _beside(suite: Suite, path: str) -> str:
    """A path of the suite, which is relative to its file, or to the project of a published test."""
    full = os.path.normpath(os.path.join(suite.base or os.path.dirname(suite.document.source), path))
    if is_pipe_or_device(full):
        raise SuiteError(
            f"{full} is not a regular file", place=suite.document.source, hint="name a YAML file"
        )
    return full
