"""Which versions of tapelint a configuration is written for: a specifier as PEP 440 has it (``>=0.1,<1``)."""

from __future__ import annotations

from .. import __version__
from .keys import At, ConfigError

SHAPE = r"^\s*((===?|~=|!=|<=?|>=?)?\s*[vV]?\d[^\s,]*)(\s*,\s*(===?|~=|!=|<=?|>=?)\s*[vV]?\d[^\s,]*)*\s*$"
"""What every specifier looks like. Editors check that much."""


def required_version(key: str, value: object, at: At, root: str = "") -> str:
    """A specifier, or one version, that the running tapelint fits: a pre-release counts as what it is."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # few configurations require a version

    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f'{at(key)}: {key} must be a version specifier, as in ">=0.1"')
    wanted = f"=={value.strip()}" if value.strip()[0] in "vV0123456789" else value.strip()
    try:
        fits = SpecifierSet(wanted).contains(__version__, prereleases=True)
    except InvalidSpecifier:
        raise ConfigError(f'{at(key)}: {key} must be a version specifier, as in ">=0.1", not {value!r}') from None
    if not fits:
        raise ConfigError(f"{at(key)}: required version `{wanted}` does not match the running version `{__version__}`")
    return value
