"""bcrypt, htpasswd, derivePassword, and AES encryption with a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import clock_and_random as world
from crossply.functions.builtin.go_templating.sprig.runes import to_bytes, to_text
from crossply.values.gobase64 import Base64Error, decode

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

_BCRYPT_COST = 10
_BCRYPT_LIMIT = 72
_BLOCK = 16
_SEED = b"com.lyndir.masterpassword"
_LONG = (
    "CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno "
    "CvcvnoCvccCvcv CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno "
    "CvccnoCvccCvcv CvccCvccnoCvcv CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno "
    "CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno"
)
_TEMPLATES = {
    "maximum": "anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno",
    "long": _LONG,
    "medium": "CvcnoCvc CvcCvcno",
    "short": "Cvcn",
    "basic": "aaanaaan aannaaan aaannaaa",
    "pin": "nnnn",
}
_CHARACTERS = {
    "V": "AEIOU",
    "C": "BCDFGHJKLMNPQRSTVWXYZ",
    "v": "aeiou",
    "c": "bcdfghjklmnpqrstvwxyz",
    "A": "AEIOUBCDFGHJKLMNPQRSTVWXYZ",
    "a": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
    "n": "0123456789",
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
}


def bcrypt(password: str) -> str:
    """Hash a password with bcrypt."""
    from importlib import import_module

    data = to_bytes(password)
    if len(data) > _BCRYPT_LIMIT:
        limit = f"bcrypt: password length exceeds {_BCRYPT_LIMIT} bytes"
        return f"failed to encrypt string with bcrypt: {limit}"
    try:
        library = import_module("bcrypt")
    except ImportError:
        raise FunctionFailed("the Python package bcrypt is not installed") from None
    hashed: bytes = library.hashpw(data, library.gensalt(_BCRYPT_COST, b"2a"))
    return hashed.decode()


def htpasswd(user: str, password: str) -> str:
    """A line of an htpasswd file."""
    return f"invalid username: {user}" if ":" in user else f"{user}:{bcrypt(password)}"


def derive_password(counter: int, kind: str, password: str, user: str, site: str) -> str:
    """The password for a site that follows from a master password."""
    from hashlib import scrypt
    from hmac import digest

    templates = _TEMPLATES.get(kind, "").split()
    if not templates:
        return f"cannot find password template {kind}"
    salt = _SEED + _with_length(user)
    key = scrypt(to_bytes(password), salt=salt, n=32768, r=8, p=2, maxmem=64 << 20, dklen=64)
    seed = digest(key, _SEED + _with_length(site) + counter.to_bytes(4, "big"), "sha256")
    template = templates[seed[0] % len(templates)]
    alphabets = [_CHARACTERS[sort] for sort in template]
    return "".join(alphabet[seed[index + 1] % len(alphabet)] for index, alphabet in enumerate(alphabets))


def _with_length(text: str) -> bytes:
    data = to_bytes(text)
    return len(data).to_bytes(4, "big") + data


def encrypt_aes(password: str, text: str) -> str:
    """Encrypt a text under a password."""
    from base64 import b64encode

    if not text:
        return ""
    data = to_bytes(text)
    padding = _BLOCK - len(data) % _BLOCK
    start = world.random_bytes(_BLOCK)
    encryptor = _cipher(password, start).encryptor()
    encrypted = encryptor.update(data + bytes([padding]) * padding) + encryptor.finalize()
    return b64encode(start + encrypted).decode()


def decrypt_aes(password: str, text: str) -> str:
    """Decrypt what encryptAES made."""
    if not text:
        return ""
    try:
        data = decode(text)
    except Base64Error as error:
        raise FunctionFailed(str(error)) from None
    _check_blocks(data, len(text) // 4 * 3)
    decryptor = _cipher(password, data[:_BLOCK]).decryptor()
    decrypted = decryptor.update(data[_BLOCK:]) + decryptor.finalize()
    if not decrypted:
        raise FunctionFailed("runtime error: index out of range [-1]")
    length = len(decrypted) - decrypted[-1]
    if length < 0:
        raise FunctionFailed(f"runtime error: slice bounds out of range [:{length}]")
    return to_text(decrypted[:length])


def _check_blocks(data: bytes, capacity: int) -> None:
    if capacity < _BLOCK:
        bounds = f"[:{_BLOCK}] with capacity {capacity}"
        raise FunctionFailed(f"runtime error: slice bounds out of range {bounds}")
    if len(data) < _BLOCK:
        raise FunctionFailed(f"runtime error: slice bounds out of range [{_BLOCK}:{len(data)}]")
    if len(data) % _BLOCK:
        raise FunctionFailed("crypto/cipher: input not full blocks")


def _cipher(password: str, start: bytes) -> Cipher[CBC]:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    return Cipher(AES(to_bytes(password)[:32].ljust(32, b"\0")), CBC(start))
