"""All functions of sprig: the name in templates, the module, and the Go types of the parameters.

A row reads `name: "function type type…"`; three dots mark a variadic parameter. A function and its must…
variant are often the same: sprig's panics are errors of the template, and only some functions swallow them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.go_templating.engine.limits import copied_size, decoded_size
from crossply.functions.builtin.go_templating.engine.signatures import ANY, Function

_TYPES = {
    "any": ANY,
    "map": "map[string]interface {}",
    "list": "[]interface {}",
    "time": "time.Time",
    "certificate": "sprig.certificate",
}
_SLOW = frozenset(("certificates", "keys", "passwords"))

_STRINGS = {
    "trim": "trim string",
    "trimAll": "trim_all string string",
    "trimall": "trim_all string string",
    "trimPrefix": "trim_prefix string string",
    "trimSuffix": "trim_suffix string string",
    "contains": "contains string string",
    "hasPrefix": "has_prefix string string",
    "hasSuffix": "has_suffix string string",
    "repeat": "repeat int string",
    "replace": "replace string string string",
    "plural": "plural string string int",
    "trunc": "trunc int string",
    "substr": "substr int int string",
    "quote": "quote any...",
    "squote": "single_quote any...",
    "cat": "cat any...",
    "toString": "string_value any",
    "toStrings": "to_strings any",
    "join": "join string any",
    "sortAlpha": "sort_alpha any",
    "splitList": "split_list string string",
    "split": "split string string",
    "splitn": "splitn string int string",
}
_TEXT_LAYOUT = {
    "indent": "indent int string",
    "nindent": "nindent int string",
    "abbrev": "abbrev int string",
    "abbrevboth": "abbrev_both int int string",
    "wrap": "wrap int string",
    "wrapWith": "wrap_with int string string",
}
_CASING = {
    name: f"{name} string"
    for name in ("upper", "lower", "title", "untitle", "swapcase", "initials", "nospace")
}
_WORD_CASE = {name: f"{name} string" for name in ("snakecase", "kebabcase", "camelcase")}
_NUMBERS = {
    "atoi": "atoi string",
    "int": "to_int64 any",
    "int64": "int64 any",
    "float64": "to_float64 any",
    "toDecimal": "to_decimal any",
    "add1": "add1 any",
    "add": "add any...",
    "sub": "sub any any",
    "mul": "mul any any...",
    "div": "div any any",
    "mod": "mod any any",
    "max": "maximum any any...",
    "biggest": "maximum any any...",
    "min": "minimum any any...",
    "maxf": "maxf any any...",
    "minf": "minf any any...",
    "floor": "floor any",
    "ceil": "ceil any",
    "round": "rounded any int float64...",
    "until": "until int",
    "untilStep": "until_step int int int",
    "seq": "seq int...",
}
_DECIMALS = {
    "add1f": "add1f any",
    "addf": "addf any...",
    "subf": "subf any any...",
    "mulf": "mulf any any...",
    "divf": "divf any any...",
}
_LISTS = {
    "list": "make_list any...",
    "tuple": "make_list any...",
    "append": "append any any",
    "push": "append any any",
    "mustAppend": "append any any",
    "mustPush": "append any any",
    "prepend": "prepend any any",
    "mustPrepend": "prepend any any",
    "first": "first any",
    "mustFirst": "first any",
    "last": "last any",
    "mustLast": "last any",
    "rest": "rest any",
    "mustRest": "rest any",
    "initial": "initial any",
    "mustInitial": "initial any",
    "reverse": "reverse any",
    "mustReverse": "reverse any",
    "compact": "compact any",
    "mustCompact": "compact any",
    "uniq": "uniq any",
    "mustUniq": "uniq any",
    "without": "without any any...",
    "mustWithout": "without any any...",
    "has": "has any any",
    "mustHas": "has any any",
    "slice": "slice_of any any...",
    "mustSlice": "slice_of any any...",
    "concat": "concat any...",
    "chunk": "chunk int any",
    "mustChunk": "chunk int any",
}
_DICTS = {
    "dict": "make_dict any...",
    "get": "get map string",
    "set": "set_key map string any",
    "unset": "unset map string",
    "hasKey": "has_key map string",
    "pluck": "pluck string map...",
    "keys": "keys map...",
    "values": "values map",
    "pick": "pick map string...",
    "omit": "omit map string...",
    "dig": "dig any...",
    "merge": "merge map map...",
    "mustMerge": "merge map map...",
    "mergeOverwrite": "merge_overwrite map map...",
    "mustMergeOverwrite": "merge_overwrite map map...",
}
_DEEP_EQUALITY = {
    "deepCopy": "deep_copy any",
    "mustDeepCopy": "deep_copy any",
    "deepEqual": "deep_equal any any",
}
_DEFAULTS = {
    "hello": "hello",
    "default": "default any any...",
    "empty": "empty any",
    "coalesce": "coalesce any...",
    "all": "all_non_empty any...",
    "any": "any_non_empty any...",
    "ternary": "ternary any any bool",
    "fail": "fail string",
}
_JSON = {
    "fromJson": "from_json string",
    "mustFromJson": "must_from_json string",
    "toJson": "to_json any",
    "mustToJson": "must_to_json any",
    "toPrettyJson": "to_pretty_json any",
    "mustToPrettyJson": "must_to_pretty_json any",
    "toRawJson": "to_raw_json any",
    "mustToRawJson": "to_raw_json any",
}
_MEMORY = {"from_json": decoded_size, "must_from_json": decoded_size, "deep_copy": copied_size}
_REFLECTION = {
    "typeOf": "type_of any",
    "typeIs": "type_is string any",
    "typeIsLike": "type_is_like string any",
    "kindOf": "kind_of any",
    "kindIs": "kind_is string any",
}
_PATHS = {
    "base": "base string",
    "dir": "directory string",
    "clean": "clean string",
    "ext": "extension string",
    "isAbs": "is_absolute string",
    "osBase": "base string",
    "osDir": "directory string",
    "osClean": "clean string",
    "osExt": "extension string",
    "osIsAbs": "is_absolute string",
}
_DATES = {
    "now": "now",
    "date": "date string any",
    "dateInZone": "date_in_zone string any string",
    "date_in_zone": "date_in_zone string any string",
    "htmlDate": "html_date any",
    "htmlDateInZone": "html_date_in_zone any string",
    "dateModify": "date_modify string time",
    "date_modify": "date_modify string time",
    "mustDateModify": "must_date_modify string time",
    "must_date_modify": "must_date_modify string time",
    "toDate": "to_date string string",
    "mustToDate": "must_to_date string string",
    "unixEpoch": "unix_epoch time",
    "ago": "ago any",
    "duration": "duration any",
    "durationRound": "duration_round any",
}
_REGEX = {
    "regexMatch": "regex_match string string",
    "mustRegexMatch": "must_regex_match string string",
    "regexFind": "regex_find string string",
    "mustRegexFind": "must_regex_find string string",
    "regexFindAll": "regex_find_all string string int",
    "mustRegexFindAll": "must_regex_find_all string string int",
    "regexReplaceAll": "regex_replace_all string string string",
    "mustRegexReplaceAll": "must_regex_replace_all string string string",
    "regexReplaceAllLiteral": "regex_replace_all_literal string string string",
    "mustRegexReplaceAllLiteral": "must_regex_replace_all_literal string string string",
    "regexSplit": "regex_split string string int",
    "mustRegexSplit": "must_regex_split string string int",
    "regexQuoteMeta": "regex_quote_meta string",
}
_CERTIFICATES = {
    "buildCustomCert": "build_custom_cert string string",
    "genCA": "gen_ca string int",
    "genCAWithKey": "gen_ca_with_key string int string",
    "genSelfSignedCert": "gen_self_signed_cert string list list int",
    "genSelfSignedCertWithKey": "gen_self_signed_cert_with_key string list list int string",
    "genSignedCert": "gen_signed_cert string list list int certificate",
    "genSignedCertWithKey": "gen_signed_cert_with_key string list list int certificate string",
}
_PASSWORDS = {
    "bcrypt": "bcrypt string",
    "htpasswd": "htpasswd string string",
    "derivePassword": "derive_password uint32 string string string string",
    "encryptAES": "encrypt_aes string string",
    "decryptAES": "decrypt_aes string string",
}
_RANDOM_VALUES = {
    "randAlphaNum": "rand_alpha_num int",
    "randAlpha": "rand_alpha int",
    "randNumeric": "rand_numeric int",
    "randAscii": "rand_ascii int",
    "randBytes": "rand_bytes int",
    "randInt": "rand_int int int",
    "shuffle": "shuffle string",
    "uuidv4": "uuidv4",
}
_ENCODING = {
    name: f"{name} string"
    for name in ("b64enc", "b64dec", "b32enc", "b32dec", "sha1sum", "sha256sum", "sha512sum", "adler32sum")
}
_MODULES = {
    "strings": _STRINGS,
    "text_layout": _TEXT_LAYOUT,
    "letter_case_functions": _CASING,
    "word_case": _WORD_CASE,
    "numbers": _NUMBERS,
    "decimals": _DECIMALS,
    "lists": _LISTS,
    "dicts": _DICTS,
    "deep_equality": _DEEP_EQUALITY,
    "defaults": _DEFAULTS,
    "json_functions": _JSON,
    "reflection": _REFLECTION,
    "paths": _PATHS,
    "dates": _DATES,
    "regex": _REGEX,
    "encoding": _ENCODING,
    "semver": {"semver": "semver string", "semverCompare": "semver_compare string string"},
    "urls": {
        "urlParse": "url_parse string",
        "urlJoin": "url_join map",
        "getHostByName": "get_host_by_name string",
    },
    "keys": {"genPrivateKey": "gen_private_key string"},
    "certificates": _CERTIFICATES,
    "passwords": _PASSWORDS,
    "random_values": _RANDOM_VALUES,
}


def _function(module: str, row: str) -> Function:
    attribute, *types = row.split()
    variadic = bool(types) and types[-1].endswith("...")
    names = [name.removesuffix("...") for name in types]
    parameters = tuple(_TYPES.get(name, name) for name in names)
    call = _lazily_imported(module, attribute)
    return Function(call, parameters, variadic, module in _SLOW, _MEMORY.get(attribute))


def _lazily_imported(module: str, attribute: str) -> Callable[..., Any]:
    """Import the module on the first call: templates use few of them."""
    function: Callable[..., Any] | None = None

    def call(*args: Any) -> Any:
        nonlocal function
        if function is None:
            from importlib import import_module

            function = getattr(import_module(f"{__package__}.{module}"), attribute)
        return function(*args)

    return call


FUNCTIONS: dict[str, Function] = {
    name: _function(module, row) for module, rows in _MODULES.items() for name, row in rows.items()
}
