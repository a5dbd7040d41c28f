"""What a program is made of, found in its text: the rows of the report."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

METHODS = {
    "backward": "backward",
    "step": "optimizer step",
    "zero_grad": "zero_grad",
    "detach": "detach",
    "detach_": "detach",
    "load_state_dict": "load_state_dict",
    "register_hook": "hooks on tensors",
    "retain_grad": "hooks on tensors",
    "register_post_accumulate_grad_hook": "hooks on tensors",
    "register_forward_hook": "hooks on modules",
    "register_forward_pre_hook": "hooks on modules",
    "register_full_backward_hook": "hooks on modules",
    "deepcopy": "deepcopy",
    "apply": "autograd.Function",
    "grad": "autograd.grad",
    "eval": "eval",
    "requires_grad_": "requires_grad_",
    "clip_grad_norm_": "clip_grad_norm_",
    "LBFGS": "LBFGS with a closure",
    "constant_": "nn.init",
    "uniform_": "nn.init",
    "register_buffer": "buffers",
}
VIEWS = frozenset("t transpose view expand select diagonal narrow chunk split unbind tensor_split".split())
CELLS = frozenset("GRUCell LSTMCell RNNCell GRU LSTM".split())
WORDS: tuple[tuple[str, str], ...] = (
    ("retain_graph", r"retain_graph=True"),
    ("create_graph", r"create_graph=True"),
    ("inputs=", r"inputs="),
    ("several roots", r"autograd\.backward\(\["),
    (".data", r"\.data\b"),
    ("no_grad", r"no_grad\(|set_grad_enabled\(False"),
    ("inference_mode", r"inference_mode"),
    ("enable_grad", r"enable_grad\("),
    ("in-place activations", r"inplace=True"),
    ("unknown branches", r"random\.random\(\)|\.item\(\) > "),
    ("dicts", r"\.items\(\)|\['a'\]"),
    ("lists", r"items\d+|many\d+"),
    ("tuples", r"pair\d+ ="),
    ("attributes", r"\bbox\.|\b(agent|net)\d+\.h\b"),
    ("state on self", r"self\.h\b"),
    ("fused or foreach optimizer", r"fused=True|foreach=True"),
    ("normalisation", r"BatchNorm|GroupNorm|LayerNorm|RMSNorm"),
    ("attention", r"Transformer"),
    ("averages of weights", r"AveragedModel"),
    ("autocast", r"autocast"),
    ("scaler", r"GradScaler"),
    ("hooks on saved tensors", r"saved_tensors_hooks"),
    ("distributions", r"distributions\."),
    ("embedding", r"nn\.Embedding"),
    ("packed sequences", r"pack_padded_sequence"),
    ("torch.func", r"torch\.(func\.|vmap)"),
    ("gradients for many", r"is_grads_batched|ones_like\(\w+\), allow_unused|detach\(\)\], "),
    ("set_", r"\.set_\("),
    ("copy_", r"\.copy_\("),
    ("weight and spectral norm", r"weight_norm|spectral_norm"),
    ("retain_grad", r"retain_grad\("),
    ("weights clipped", r"clamp_\(-0\.[12], 0\.[12]\)|clip_grad_value_"),
    ("partial functions", r"functools\.partial"),
    ("properties, super", r"super\(\)\.forward"),
    ("context managers", r"@contextlib"),
    ("dropout", r"[dD]ropout"),
    ("in-place twins of ops", r"\.[a-z]\w*[a-z0-9]_\("),
    ("frozen parameters", r"requires_grad = False|requires_grad_\(False\)"),
    ("running statistics", r"self\.h\.(mul_|copy_)|BatchNorm"),
)


def features(text: str) -> frozenset[str]:
    """The names of all features of a program."""
    found = {name for name, pattern in WORDS if re.search(pattern, text)}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (name := BY_NODE.get(type(node))) is not None:
            found.add(name)
        if (of := SPECIAL.get(type(node))) is not None:
            found.update(of(node))
    depth = _depth(tree)
    if depth > 1:
        found.add("nested loops")
    if sum(isinstance(n, ast.Call) and _name(n.func) in OPTIMIZERS for n in ast.walk(tree)) > 1:
        found.add("several optimizers")
    return frozenset(found)


OPTIMIZERS = frozenset("SGD Adam AdamW RMSprop Adagrad LBFGS".split())
BY_NODE: dict[type, str] = {
    ast.For: "loops",
    ast.While: "loops",
    ast.If: "branches",
    ast.IfExp: "branches",
    ast.Try: "try",
    ast.AugAssign: "augmented assignment",
    ast.Lambda: "lambdas",
    ast.Yield: "generators",
    ast.Nonlocal: "closures with state",
    ast.Global: "global state",
    ast.ListComp: "comprehensions",
    ast.GeneratorExp: "comprehensions",
    ast.Break: "break, continue",
    ast.Continue: "break, continue",
    ast.NamedExpr: "named in an expression",
    ast.Match: "match",
    ast.Delete: "del",
}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of_call(node: ast.Call) -> set[str]:
    name = _name(node.func)
    found = {METHODS[name]} if name in METHODS else set()
    if name in VIEWS:
        found.add("views")
    if name in CELLS:
        found.add("recurrent layers")
    if name in OPTIMIZERS:
        found.add("optimizers")
    if name == "checkpoint":
        reentrant = ast.unparse(node).endswith("use_reentrant=True)")
        found.add(f"checkpoint{', reentrant' if reentrant else ''}")
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "nn":
        found.add("nn layers" if name[0].isupper() else "nn functions")
    return found


def _of_class(node: ast.ClassDef) -> set[str]:
    bases = {_name(base) for base in node.bases}
    if "Module" in bases:
        return {"modules of the program"}
    return {"objects with methods"} if len(node.body) > 1 and not bases else set()


def _of_function(node: ast.FunctionDef) -> set[str]:
    found = set()
    if node.name not in ("__init__", "forward", "backward", "inner", "act", "reset"):
        found.add("functions")
    if any(isinstance(inner, ast.FunctionDef) for inner in node.body):
        found.add("closures")
    if any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(node)):
        found.add("backward in a function")
    return found


def _of_assign(node: ast.Assign) -> set[str]:
    return {
        "assigned parts"
        if isinstance(target.slice, (ast.Slice, ast.Tuple, ast.Constant, ast.UnaryOp))
        else "assigned by mask or index"
        for target in node.targets
        if isinstance(target, ast.Subscript) and not _is_container(target)
    }


def _is_container(target: ast.Subscript) -> bool:
    return ast.unparse(target.value).startswith(("items", "d", "many")) and not isinstance(target.slice, ast.Slice)


SPECIAL: dict[type, Callable[..., set[str]]] = {
    ast.Call: _of_call,
    ast.ClassDef: _of_class,
    ast.FunctionDef: _of_function,
    ast.Assign: _of_assign,
    ast.Subscript: lambda node: {"views"} if isinstance(node.slice, (ast.Slice, ast.Tuple)) else set(),
}


def _depth(node: ast.AST) -> int:
    inner = max((_depth(child) for child in ast.iter_child_nodes(node)), default=0)
    return inner + isinstance(node, (ast.For, ast.While))
