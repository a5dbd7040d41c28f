"""A second real client: ``tests/editor/neovim.lua`` against the working tree, and the lines of docs/editors.md.

Every neovim is tried that is on ``PATH`` or named in ``TAPELINT_NVIM`` (paths, as in ``PATH``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from programs import BAD, TRACEBACK, program_folder
from wire import COMMAND, ENVIRONMENT

NEOVIMS = [
    path
    for path in (shutil.which("nvim"), *os.environ.get("TAPELINT_NVIM", "").split(os.pathsep))
    if path and os.path.exists(path)
]
SINCE = ((0, 11), (0, 8), (0, 0))
"""The versions that the lines there are for, in its order; each takes those of the versions before."""

DOCS = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
BLOCKS = re.findall(r"```lua\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
"""How to start the server, for each of these versions; then the commands."""
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
        since, here = (".".join(map(str, each)) for each in (SINCE[number], version(neovim)))
        pytest.skip(f"these lines are for neovim {since} and later (name one in TAPELINT_NVIM); here is {here}")
    *blocks, _ = BLOCKS
    assert len(blocks) == len(SINCE)
    init, folder = tmp_path / "init.lua", program_folder(tmp_path)
    init.write_text(blocks[number])
    (tmp_path / "test.lua").write_text(ATTACHED)
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    if has_root:
        (project / "pyproject.toml").touch()
    for name in ("a.py", "b.py", "inner/c.py"):
        (project / name).write_text(BAD)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [neovim, "--headless", "-u", str(init), "-i", "NONE", "-n", "-c", f"luafile {tmp_path / 'test.lua'}"],
        cwd=project,
        env={**ENVIRONMENT, "PATH": path, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "servers: 1\n" in run.stdout, run.stdout + run.stderr


COMMANDS = """
local function shown(command)
  vim.cmd(command)
  local text
  local found = vim.wait(30000, function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\\n')
        vim.api.nvim_win_close(window, true)
        return true
      end
    end
  end, 50)
  assert(found, command .. ' shows nothing')
  return text
end

local function attempt()
  vim.cmd('edit a.py')
  assert(vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50), 'no diagnostics')
  assert(shown('TapelintRule TL201'):find('saved%-tensor%-modified'), 'no page')
  assert(shown('TapelintRule'):find('TL102'), 'no list')
  vim.fn.setreg('"', vim.env.TRACEBACK)
  assert(shown('TapelintExplain'):find('error%[TL201%]'), 'no explanation')
  vim.cmd('TapelintFixAll TL102')
  vim.cmd('TapelintFixAll')
  assert(vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 50), 'not fixed')
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')
end
local passed, said = pcall(attempt)
io.stdout:write(passed and 'text: ' or 'FAILED ', tostring(said), '\\n')
vim.cmd('qall!')
"""


@pytest.mark.skipif(not NEOVIMS, reason="neovim (nvim) is not installed")
@pytest.mark.parametrize("neovim", NEOVIMS)
def test_the_commands_of_the_docs(tmp_path: Path, neovim: str):
    start = next(block for block, since in zip(BLOCKS, SINCE) if version(neovim) >= since)
    (tmp_path / "init.lua").write_text(start + BLOCKS[-1])
    (tmp_path / "test.lua").write_text(COMMANDS)
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text(BAD)
    path = f"{program_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [neovim, "--headless", "-u", "../init.lua", "-i", "NONE", "-n", "-c", "luafile ../test.lua"],
        cwd=project,
        env={**ENVIRONMENT, "PATH": path, "XDG_STATE_HOME": str(tmp_path), "TRACEBACK": TRACEBACK},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert f"text: {BAD.replace('y += 1', 'y = y + 1')}" in run.stdout, run.stdout + run.stderr
