"""Files that GitHub, GitLab and pre-commit read, against the schemas that are published for them (check-jsonschema has
copies).
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from clones import ROOT

TEMPLATES = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = [str(path.relative_to(ROOT)) for path in TEMPLATES.glob("*.yml") if path.name != "config.yml"]
FILES = {
    "action.yml": "vendor.github-actions",
    "templates/tapelint.gitlab-ci.yml": "vendor.gitlab-ci",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    **dict.fromkeys(sorted(FORMS), "vendor.github-issue-forms"),
}


def check(schema: str, file: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_as_its_schema_says(file: str) -> None:
    done = check(FILES[file], file)
    assert done.returncode == 0, done.stdout
