"""The signatures of all functions as text.

A line is a function and its type; a dot before the name makes the first argument the one it is called on.
Capital letters are type parameters; `comparable` and `summable` stand for each of some types.
"""

from __future__ import annotations

_OPERATORS = """
_?_:_ (bool, A, A) A
_&&_ (bool, bool) bool
_||_ (bool, bool) bool
!_ (bool) bool
@not_strictly_false (bool) bool
_==_ (A, A) bool
_!=_ (A, A) bool
_+_ (bytes, bytes) bytes
_+_ (double, double) double
_+_ (duration, duration) duration
_+_ (duration, timestamp) timestamp
_+_ (timestamp, duration) timestamp
_+_ (int, int) int
_+_ (list(A), list(A)) list(A)
_+_ (string, string) string
_+_ (uint, uint) uint
_-_ (double, double) double
_-_ (duration, duration) duration
_-_ (int, int) int
_-_ (timestamp, duration) timestamp
_-_ (timestamp, timestamp) duration
_-_ (uint, uint) uint
_*_ (double, double) double
_*_ (int, int) int
_*_ (uint, uint) uint
_/_ (double, double) double
_/_ (int, int) int
_/_ (uint, uint) uint
_%_ (int, int) int
_%_ (uint, uint) uint
-_ (double) double
-_ (int) int
_<_ (comparable, comparable) bool
_<=_ (comparable, comparable) bool
_>_ (comparable, comparable) bool
_>=_ (comparable, comparable) bool
_[_] (list(A), int) A
_[_] (map(A, B), A) B
_[_] (optional(list(V)), int) optional(V)
_[_] (optional(map(K, V)), K) optional(V)
_[?_] (list(V), int) optional(V)
_[?_] (optional(list(V)), int) optional(V)
_[?_] (map(K, V), K) optional(V)
_[?_] (optional(map(K, V)), K) optional(V)
_?._ (dyn, string) optional(V)
@in (A, list(A)) bool
@in (A, map(A, B)) bool
cel.@mapInsert (map(K, V), K, V) map(K, V)
cel.@mapInsert (map(K, V), map(K, V)) map(K, V)
.@sortByAssociatedKeys (list(T), list(comparable)) list(T)
"""

_CONVERSIONS = """
size (bytes) int
.size (bytes) int
size (list(A)) int
.size (list(A)) int
size (map(A, B)) int
.size (map(A, B)) int
size (string) int
.size (string) int
type (A) type(A)
bool (bool) bool
bool (string) bool
bytes (bytes) bytes
bytes (string) bytes
double (double) double
double (int) double
double (string) double
double (uint) double
duration (duration) duration
duration (string) duration
dyn (A) dyn
int (int) int
int (double) int
int (duration) int
int (string) int
int (timestamp) int
int (uint) int
string (string) string
string (bool) string
string (bytes) string
string (double) string
string (duration) string
string (int) string
string (timestamp) string
string (uint) string
timestamp (timestamp) timestamp
timestamp (int) timestamp
timestamp (string) timestamp
uint (uint) uint
uint (double) uint
uint (int) uint
uint (string) uint
.getHours (duration) int
.getMinutes (duration) int
.getSeconds (duration) int
.getMilliseconds (duration) int
"""

_TEXTS = """
.contains (string, string) bool
.endsWith (string, string) bool
.startsWith (string, string) bool
matches (string, string) bool
.matches (string, string) bool
.charAt (string, int) string
.indexOf (string, string) int
.indexOf (string, string, int) int
.lastIndexOf (string, string) int
.lastIndexOf (string, string, int) int
.lowerAscii (string) string
.upperAscii (string) string
.replace (string, string, string) string
.replace (string, string, string, int) string
.split (string, string) list(string)
.split (string, string, int) list(string)
.substring (string, int) string
.substring (string, int, int) string
.trim (string) string
.format (string, list(dyn)) string
strings.quote (string) string
.join (list(string)) string
.join (list(string), string) string
.reverse (string) string
.find (string, string) string
.findAll (string, string) list(string)
.findAll (string, string, int) list(string)
base64.decode (string) bytes
base64.encode (bytes) string
json.encode (dyn) string
"""

_COLLECTIONS = """
.slice (list(T), int, int) list(T)
.flatten (list(list(T))) list(T)
.flatten (list(dyn), int) list(dyn)
.sort (list(comparable)) list(comparable)
lists.range (int) list(int)
.reverse (list(T)) list(T)
.distinct (list(T)) list(T)
.first (list(V)) optional(V)
.last (list(V)) optional(V)
.isSorted (list(comparable)) bool
.sum (list(summable)) summable
.max (list(comparable)) comparable
.min (list(comparable)) comparable
.indexOf (list(A), A) int
.lastIndexOf (list(A), A) int
optional.of (V) optional(V)
optional.ofNonZeroValue (V) optional(V)
optional.none () optional(V)
.value (optional(V)) V
.hasValue (optional(V)) bool
.or (optional(V), optional(V)) optional(V)
.orValue (optional(V), V) V
optional.unwrap (list(optional(V))) list(V)
.unwrapOpt (list(optional(V))) list(V)
"""

_KUBERNETES = """
quantity (string) quantity
isQuantity (string) bool
sign (quantity) int
.isGreaterThan (quantity, quantity) bool
.isLessThan (quantity, quantity) bool
.compareTo (quantity, quantity) int
.asApproximateFloat (quantity) double
.asInteger (quantity) int
.isInteger (quantity) bool
.add (quantity, quantity) quantity
.add (quantity, int) quantity
.sub (quantity, quantity) quantity
.sub (quantity, int) quantity
url (string) url
isURL (string) bool
.getScheme (url) string
.getHost (url) string
.getHostname (url) string
.getPort (url) string
.getEscapedPath (url) string
.getQuery (url) map(string, list(string))
"""

_KRO = """
random.seededString (int, string) string
random.seededInt (int, int, string) int
.merge (map(K, V), map(K, V)) map(K, V)
json.unmarshal (string) dyn
json.marshal (dyn) string
lists.setAtIndex (list(T), int, T) list(T)
lists.insertAtIndex (list(T), int, T) list(T)
lists.removeAtIndex (list(T), int) list(T)
omit () dyn
"""

_TIME_PARTS = (
    *("getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
)


def signature_lines() -> list[str]:
    texts = (_OPERATORS, _CONVERSIONS, _TEXTS, _COLLECTIONS, _KUBERNETES, _KRO)
    lines = [line for text in texts for line in text.strip().split("\n")]
    for name in _TIME_PARTS:
        lines += [f".{name} (timestamp) int", f".{name} (timestamp, string) int"]
    return lines
