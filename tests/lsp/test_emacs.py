"""A third real client: Emacs with eglot, as docs/editors.md sets it up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from programs import BAD, TRACEBACK, program_folder
from wire import ENVIRONMENT

DOCS = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
TRIED = """
(defun wait-for (what test)
  (let ((end (+ (float-time) 60)))
    (while (not (funcall test))
      (when (> (float-time) end) (error "no %s" what))
      (accept-process-output nil 0.05))))
(defun shown () (with-current-buffer "*tapelint*" (buffer-string)))
(defun attempt ()
  (setq eglot-confirm-server-initiated-edits nil eglot-sync-connect 60)
  (find-file "a.py")
  (run-hooks 'post-command-hook)
  (wait-for "server" #'eglot-current-server)
  (wait-for "diagnostic" (lambda () (flymake-start) (flymake-diagnostics)))
  (princ (flymake-diagnostic-text (car (flymake-diagnostics))))
  (tapelint-rule "TL201")
  (princ (shown))
  (kill-new (getenv "TRACEBACK"))
  (tapelint-explain)
  (princ (shown))
  (tapelint-fix-all "TL102")
  (unless (equal (buffer-string) (getenv "BEFORE")) (error "fixed what was not asked for"))
  (tapelint-fix-all "")
  (princ (concat "text: " (buffer-string))))
(condition-case problem (attempt) (error (princ (format "FAILED %S" problem))))
(set-buffer-modified-p nil)
(kill-emacs 0)
"""


def has_eglot() -> bool:
    if shutil.which("emacs") is None:
        return False
    asked = ["emacs", "--batch", "--eval", "(kill-emacs (if (require 'eglot nil t) 0 1))"]
    return subprocess.run(asked, capture_output=True, timeout=60).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="Emacs with eglot (emacs-nox, elpa-eglot) is not installed")
def test_the_lines_of_the_docs(tmp_path: Path) -> None:
    (block,) = re.findall(r"```elisp\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "init.el").write_text(block)
    (tmp_path / "test.el").write_text(TRIED)
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text(BAD)
    path = f"{program_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["emacs", "--batch", "-l", "../init.el", "-l", "../test.el"],
        cwd=project,
        env={**ENVIRONMENT, "PATH": path, "HOME": str(tmp_path), "TRACEBACK": TRACEBACK, "BEFORE": BAD},
        capture_output=True,
        text=True,
        timeout=200,
    )
    said = run.stdout
    assert "[TL201]" in said and "# TL201 saved-tensor-modified" in said and "error[TL201]" in said, said + run.stderr
    assert said.endswith(f"text: {BAD.replace('y += 1', 'y = y + 1')}"), said + run.stderr
