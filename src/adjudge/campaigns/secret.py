"""Secrets of people, which the store never holds: SHA-256 of what we draw, argon2 of what people make up."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher

__all__ = ["hash_of", "hash_password", "is_password", "new_secret"]


def new_secret(size: int) -> str:
    """Draw so many bytes, as text that an address may hold."""
    return secrets.token_urlsafe(size)


def hash_of(secret: str) -> str:
    """What the store keeps of a secret that is too long to be guessed."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def hash_password(password: str) -> str:
    """What the store keeps of a password."""
    return _hasher().hash(password)


def is_password(known: str | None, password: str) -> bool:
    """Whether a password is the one of this hash; without a hash it is not, and that takes as long."""
    from argon2.exceptions import VerifyMismatchError

    try:
        _hasher().verify(known or _nobodys(), password.encode(errors="surrogatepass"))
    except VerifyMismatchError:
        return False
    return known is not None


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobodys() -> str:
    return hash_password(new_secret(16))
