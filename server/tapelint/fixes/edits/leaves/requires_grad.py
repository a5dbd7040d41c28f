"""Make a new tensor one that autograd tracks: ``torch.zeros(3)`` becomes ``torch.zeros(3, requires_grad=True)``.

Target: the call that makes the tensor. Functions of torch that do not take the argument (``torch.from_numpy``) get
``.requires_grad_()`` behind them; calls of anything that is not torch's are refused.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call
from ...text.concrete_syntax import Concrete, append_call
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor

_FUNCTIONS = frozenset(
    "arange asarray bartlett_window blackman_window empty empty_like empty_permuted empty_strided eye frombuffer full"
    " full_like hamming_window hann_window kaiser_window linspace logspace ones ones_like rand rand_like randint"
    " randint_like randn randn_like randperm range scalar_tensor sparse_bsc_tensor sparse_bsr_tensor"
    " sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor zeros zeros_like".split()
)
_METHODS = frozenset("new_empty new_empty_strided new_full new_ones new_tensor new_zeros".split())
_OTHERS = frozenset("Tensor FloatTensor DoubleTensor as_tensor from_numpy from_dlpack normal".split())


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    if not isinstance(call, ast.Call):
        raise EditRefused("not a call")
    name = qualified(editor, editor.place(call), call.func)
    module, _, function = (name or "").rpartition(".")
    if name == "torch.autograd.Variable":
        return Arguments(editor, call).put("requires_grad", "True")
    is_method = name is None and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
    if (module == "torch" and function in _FUNCTIONS) or is_method:
        return Arguments(editor, call).put("requires_grad", "True")
    if module == "torch" and function in _OTHERS:
        parent = editor.path(call)[-2]
        if isinstance(parent, ast.Attribute) and parent.attr == "requires_grad_":
            raise EditRefused("done already")
        return append_call(Concrete(editor, call), call, ".requires_grad_()")
    raise EditRefused("not known to make a tensor")
