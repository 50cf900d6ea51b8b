"""Sprig's table: which functions there are, their signatures, and what it costs to have them."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import pytest

from crossply.functions.builtin.go_templating.engine.errors import ExecError
from crossply.functions.builtin.go_templating.engine.signatures import Function
from crossply.functions.builtin.go_templating.sprig import FUNCTIONS
from tests.support.functions.sprig import rendered

SIGNATURES = {
    "": "hello now uuidv4",
    "...int": "seq",
    "...interface {}": "add addf all any cat coalesce concat dict dig list quote squote tuple",
    "...map[string]interface {}": "keys",
    "int": "randAlpha randAlphaNum randAscii randBytes randNumeric until",
    "int, int": "randInt",
    "int, int, int": "untilStep",
    "int, int, string": "abbrevboth substr",
    "int, interface {}": "chunk mustChunk",
    "int, string": "abbrev indent nindent repeat trunc wrap",
    "int, string, string": "wrapWith",
    "interface {}": (
        "add1 add1f ago ceil compact deepCopy duration durationRound empty first float64 floor "
        "htmlDate initial int int64 kindOf last mustCompact mustDeepCopy mustFirst mustInitial "
        "mustLast mustRest mustReverse mustToJson mustToPrettyJson mustToRawJson mustUniq rest "
        "reverse sortAlpha toDecimal toJson toPrettyJson toRawJson toString toStrings typeOf uniq"
    ),
    "interface {}, ...interface {}": (
        "biggest default divf max maxf min minf mul mulf mustSlice mustWithout slice subf without"
    ),
    "interface {}, int, ...float64": "round",
    "interface {}, interface {}": (
        "append deepEqual div has mod mustAppend mustHas mustPrepend mustPush prepend push sub"
    ),
    "interface {}, interface {}, bool": "ternary",
    "interface {}, string": "htmlDateInZone",
    "map[string]interface {}": "urlJoin values",
    "map[string]interface {}, ...map[string]interface {}": (
        "merge mergeOverwrite mustMerge mustMergeOverwrite"
    ),
    "map[string]interface {}, ...string": "omit pick",
    "map[string]interface {}, string": "get hasKey unset",
    "map[string]interface {}, string, interface {}": "set",
    "string": (
        "adler32sum atoi b32dec b32enc b64dec b64enc base bcrypt camelcase clean dir ext fail "
        "fromJson genPrivateKey getHostByName initials isAbs kebabcase lower mustFromJson nospace "
        "osBase osClean osDir osExt osIsAbs regexQuoteMeta semver sha1sum sha256sum sha512sum "
        "shuffle snakecase swapcase title trim untitle upper urlParse"
    ),
    "string, ...map[string]interface {}": "pluck",
    "string, []interface {}, []interface {}, int": "genSelfSignedCert",
    "string, []interface {}, []interface {}, int, sprig.certificate": "genSignedCert",
    "string, []interface {}, []interface {}, int, sprig.certificate, string": "genSignedCertWithKey",
    "string, []interface {}, []interface {}, int, string": "genSelfSignedCertWithKey",
    "string, int": "genCA",
    "string, int, string": "genCAWithKey splitn",
    "string, interface {}": "date join kindIs typeIs typeIsLike",
    "string, interface {}, string": "dateInZone date_in_zone",
    "string, string": (
        "buildCustomCert contains decryptAES encryptAES hasPrefix hasSuffix htpasswd mustRegexFind "
        "mustRegexMatch mustToDate regexFind regexMatch semverCompare split splitList toDate trimAll "
        "trimPrefix trimSuffix trimall"
    ),
    "string, string, int": "mustRegexFindAll mustRegexSplit plural regexFindAll regexSplit",
    "string, string, string": (
        "mustRegexReplaceAll mustRegexReplaceAllLiteral regexReplaceAll regexReplaceAllLiteral replace"
    ),
    "string, time.Time": "dateModify date_modify mustDateModify must_date_modify",
    "time.Time": "unixEpoch",
    "uint32, string, string, string, string": "derivePassword",
}
"""The signatures of all functions of sprig v3.3.0 by Go's reflection, without env and expandenv."""

ARGUMENTS = {
    "string": '"1"',
    "int": "1",
    "uint32": "1",
    "float64": "0.5",
    "bool": "true",
    "interface {}": "1",
    "[]interface {}": "(list)",
    "map[string]interface {}": "(dict)",
    "time.Time": "now",
}


def signature(function: Function) -> str:
    types = list(function.parameters)
    if function.variadic:
        types[-1] = "..." + types[-1]
    return ", ".join(types)


def test_every_function_of_sprig_is_there_with_the_signature_it_has_in_go() -> None:
    expected = {name: types for types, names in SIGNATURES.items() for name in names.split()}
    assert {name: signature(function) for name, function in FUNCTIONS.items()} == expected


@pytest.mark.parametrize("name", sorted(name for name, function in FUNCTIONS.items() if not function.slow))
def test_every_name_of_the_table_leads_to_a_function(name: str) -> None:
    arguments = " ".join(ARGUMENTS[parameter] for parameter in FUNCTIONS[name].parameters)
    # A name that leads nowhere raises what no template can raise.
    with suppress(ExecError):
        rendered(f"{{{{ {name} {arguments} }}}}")


def test_a_process_that_only_knows_the_functions_has_loaded_none_of_their_libraries() -> None:
    program = """
import sys
import crossply.functions.builtin.go_templating.sprig
heavy = {"cryptography", "zoneinfo", "decimal", "hashlib", "re2", "ipaddress", "unicodedata", "bcrypt"}
families = [name for name in sys.modules if ".sprig." in name and not name.endswith(".function_table")]
print(sorted(heavy & set(sys.modules)), families)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"
