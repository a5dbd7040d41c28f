"""Configuration files as plain data: what is read, and what is left."""

from __future__ import annotations

import pytest

from tapelint.source.config_text import MAX_CHARACTERS, Tagged, Unread, read_config

ALIASES = "a0: &a0 [1, 2]\n" + "".join(f"a{i}: &a{i} [{', '.join(9 * [f'*a{i - 1}'])}]\n" for i in range(1, 10))
MERGES = "m0: &m0 {x: 1}\n" + "".join(f"m{i}: &m{i}\n  <<: [{', '.join(9 * [f'*m{i - 1}'])}]\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("a: 1\nb: {c: yes, d: [x, ~]}", "a.yaml", {"a": 1, "b": {"c": True, "d": ["x", None]}}),
        ("base: &b {p: 1, q: 2}\nnew: {<<: *b, p: 3}", "a.yml", {"base": {"p": 1, "q": 2}, "new": {"q": 2, "p": 3}}),
        (
            "net: !new:nets.Net {width: !ref <w>}",
            "a.yaml",
            {"net": Tagged("!new:nets.Net", {"width": Tagged("!ref", "<w>")})},
        ),
        ("when: 2020-01-01", "a.yaml", {"when": Unread()}),
        ('{"a": [1.5, null]}', "a.json", {"a": [1.5, None]}),
        ("a = 1\n[b]\nc = true", "a.toml", {"a": 1, "b": {"c": True}}),
        ("!!python/object/apply:f [1]", "a.yaml", Tagged("tag:yaml.org,2002:python/object/apply:f", [1])),
        ("", "a.yaml", None),
    ],
)
def test_read(text: str, path: str, found: object):
    assert read_config(text, path) == found


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: [", "a.yaml"),
        ("{", "a.json"),
        ("a =", "a.toml"),
        (9_000 * "[", "a.yaml"),
        (9_000 * "[", "a.json"),
        ("!!python/name:os.system", "a.yaml"),
        ("x" * (MAX_CHARACTERS + 1), "a.yaml"),
        (ALIASES, "a.yaml"),
        (MERGES, "a.yaml"),
        ("&a [*a]", "a.yaml"),
    ],
)
def test_left_unread(text: str, path: str):
    assert read_config(text, path) == Unread()
