"""The schema of the settings in taplo, the language server of the editors' extensions for TOML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from clones import ROOT

SCHEMA = ROOT / "server" / "tapelint" / "tapelint.schema.json"
TAPLO = Path(sys.executable).parent / "taplo"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('select = ["TL1", "tl207"]\n[per-file-ignores]\n"!src/*" = ["ALL"]\n[severities]\nTL4 = "off"\n', ""),
        ('selct = ["TL1"]\n', "selct"),
        ('select = ["TL999"]\n', "TL999"),
        ('exclude = ["../x"]\n', "../x"),
        ('[severities]\nTL4 = "of"\n', "of"),
        ("callers = 1\n", "boolean"),
    ],
)
def test_taplo_complains_where_the_check_does(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "tapelint.toml").write_text(f"#:schema {SCHEMA.as_uri()}\n{text}")
    done = subprocess.run([TAPLO, "check", "tapelint.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode != 0) == bool(complaint), done.stderr
    assert complaint in done.stderr
