"""A second real client: ``tests/editor/neovim.lua`` against the working tree, and the lines of docs/editors.md.

Every neovim is tried that is on ``PATH`` or named in ``TAPELINT_NVIM`` (paths, as in ``PATH``).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from programs import BAD
from wire import COMMAND, ENVIRONMENT

NEOVIMS = [
    path
    for path in (shutil.which("nvim"), *os.environ.get("TAPELINT_NVIM", "").split(os.pathsep))
    if path and os.path.exists(path)
]
SINCE = ((0, 11), (0, 8), (0, 0))
"""The versions that the lines there are for, in its order; each takes those of the versions before."""

EDITOR = Path(__file__).resolve().parents[1] / "editor"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="neovim (nvim) is not installed")
def test_neovim_diagnoses_fixes_and_undoes():
    run = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "train.py", "-c", f"luafile {EDITOR / 'neovim.lua'}"],
        cwd=EDITOR / "workspace",
        env={**ENVIRONMENT, "TAPELINT_SERVER": "\n".join(COMMAND)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0 and "ok" in run.stdout, run.stdout + run.stderr


ATTACHED = """
local function attempt()
  for _, name in ipairs({ 'a.py', 'b.py', 'inner/c.py' }) do
    vim.cmd('edit ' .. name)
    local found = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
    assert(found, 'nothing in ' .. name)
  end
  return #(vim.lsp.get_clients or vim.lsp.get_active_clients)()
end
local passed, said = pcall(attempt)
io.stdout:write(passed and 'servers: ' or 'FAILED ', tostring(said), '\\n')
vim.cmd('qall!')
"""


def version(neovim: str) -> tuple[int, ...]:
    said = subprocess.run([neovim, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    assert found, said
    return tuple(map(int, found.groups()))


@pytest.mark.skipif(not NEOVIMS, reason="neovim (nvim) is not installed")
@pytest.mark.parametrize("has_root", [True, False], ids=["project", "files"])
@pytest.mark.parametrize("number", range(len(SINCE)))
@pytest.mark.parametrize("neovim", NEOVIMS)
def test_buffers_share_the_server_of_the_docs(tmp_path: Path, neovim: str, number: int, has_root: bool):
    if version(neovim) < SINCE[number]:
        pytest.skip("for later versions")
    text = (Path(__file__).resolve().parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```lua\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == len(SINCE)
    init, command = tmp_path / "init.lua", tmp_path / "bin" / "tapelint"
    init.write_text(blocks[number])
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND[:-1])} "$@"\n')
    command.chmod(0o755)
    (tmp_path / "test.lua").write_text(ATTACHED)
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    if has_root:
        (project / "pyproject.toml").touch()
    for name in ("a.py", "b.py", "inner/c.py"):
        (project / name).write_text(BAD)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [neovim, "--headless", "-u", str(init), "-i", "NONE", "-n", "-c", f"luafile {tmp_path / 'test.lua'}"],
        cwd=project,
        env={**ENVIRONMENT, "PATH": path, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "servers: 1\n" in run.stdout, run.stdout + run.stderr
