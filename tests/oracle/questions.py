"""Questions that programs ask about values, and values to ask them about: each pair is evaluated by Python and PyTorch,
and asked of the engine.

callable(v)                          about the tuple (1, 2): False
v.dtype.is_floating_point            about torch.ones(3): True
v.shape[0] == 3                      about torch.tensor(1): IndexError

What the engine need not know is in ``undecided.txt``; ``python tests/oracle/questions.py`` writes it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from itertools import product
from pathlib import Path
from types import CodeType

from tapelint.analysis import executed, made
from tapelint.autograd import Facts
from tapelint.source import parse

SETTING = """
import collections, inspect, numbers, types
from collections.abc import Iterable, Mapping
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
import torch.nn.utils.prune
import torch.nn.utils.parametrizations
class C:
    flag = 1
    def method(self):
        return 1
class D(C):
    pass
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)
    def forward(self, x):
        return self.inner(x)
class Called:
    def __call__(self):
        return 1
class Set:
    limit: int = 3
    later: int
    def __init__(self):
        self.own = None
        setattr(self, "put", 1)
    @property
    def got(self):
        return self.missing
class Any(Set):
    def __init__(self):
        super().__init__()
        for name in sorted(globals())[:1]:
            setattr(self, name, 1)
class Lazy:
    def __getattr__(self, name):
        if name == "flag":
            return 1
        raise AttributeError(name)
class Conv(nn.Conv2d):
    def __init__(self):
        super().__init__(1, 1, 1)
        self.flag = 1
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(2))
        self.items = []
        self.named = {}
def f(x, y=1):
    return x
net = nn.Linear(3, 2)
own = Net()
"""

VALUES: dict[str, tuple[str, ...]] = {
    "float": (
        "torch.ones(3)",
        "torch.ones(2, 3, requires_grad=True)",
        "torch.tensor([1.0, 2.0])",
        "torch.ones(2, 3) * 2",
        "torch.rand(2, 3).exp().sum(1)",
        "torch.ones(3).detach()",
        "torch.ones(3)[0]",
        "torch.zeros_like(torch.ones(3))",
        "torch.full((2, 3), 1.5)",
        "nn.Parameter(torch.ones(3))",
        "net(torch.ones(2, 3))",
        "own(torch.ones(2, 3))",
        "net.weight",
        "F.mse_loss(net(torch.ones(1, 3)), torch.zeros(1, 2))",
    ),
    "other float": (
        "torch.ones(3).double()",
        "torch.ones(3, dtype=torch.float16)",
        "torch.ones(3).to(torch.float64)",
        "torch.ones(3).half() * 2",
        "torch.tensor(1.0, dtype=torch.double)",
        "nn.Linear(3, 2).double().weight",
        "nn.Linear(3, 2, dtype=torch.float64).weight",
        "torch.ones(3, dtype=torch.cfloat)",
        "torch.ones(3) * 1j",
        "torch.fft.fft(torch.ones(3))",
        "torch.complex(torch.ones(3), torch.ones(3))",
        "torch.view_as_complex(torch.ones(3, 2))",
        "torch.zeros_like(torch.ones(3).double())",
        "torch.zeros_like(torch.ones(3), dtype=torch.float64)",
        "torch.ones(3).type(torch.float64)",
        "torch.ones(3).sum(dtype=torch.float64)",
        "torch.ones(3) * torch.ones(3).double()",
        "torch.randn(3, dtype=torch.cfloat).abs()",
        "torch.ones(3).new_zeros(2, dtype=torch.float64)",
        "torch.from_numpy(np.zeros(3))",
        "torch.tensor(np.zeros(3))",
        "torch.as_tensor(np.float32(1.0))",
        "torch.tensor([1.0 + 2j])",
        "torch.eye(3).to_sparse()",
        "torch.linalg.eigvals(torch.ones(2, 2))",
        "torch.polar(torch.ones(3), torch.ones(3))",
        "torch.stft(torch.ones(16), 4, return_complex=True)",
        "torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)",
        "torch.ones(3, device='meta')",
        "torch.ones(3).to('meta')",
        "torch.ones(3, device='meta') * 2",
    ),
    "integer": (
        "torch.randint(0, 3, (2, 3))",
        "torch.tensor(1)",
        "torch.arange(3)",
        "torch.ones(3).to(torch.int32)",
        "torch.ones(3).long() + 1",
        "torch.full((3,), 2)",
    ),
    "boolean": ("torch.tensor([True])", "torch.ones(3) > 0", "torch.zeros(2, 3, dtype=torch.bool)"),
    "number": ("0", "1.5", "True", "3"),
    "text": ("'a'", "''", "b'x'"),
    "none": ("None",),
    "tuple": ("(1, 2)", "()", "(torch.ones(2),)", "('a', None)"),
    "list": ("[1, 2]", "[]", "[torch.ones(2)]", "[0 for i in range(3)]", "sorted([2, 1])"),
    "dict": ("{}", "{'a': 1}", "dict(a=1)"),
    "other dict": ("collections.OrderedDict()", "collections.defaultdict(list)"),
    "set": ("{1, 2}", "set()", "frozenset([1])"),
    "function": ("lambda x: x", "f"),
    "method": ("C().method", "own.forward"),
    "library function": ("F.relu", "torch.sum", "len"),
    "layer": ("net", "nn.ReLU()", "nn.Conv2d(1, 1, 1)", "nn.BatchNorm1d(3)"),
    "changed layer": (
        "nn.utils.weight_norm(nn.Linear(3, 2))",
        "nn.utils.spectral_norm(nn.Linear(3, 2))",
        "nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))",
        "nn.utils.parametrize.register_parametrization(nn.Linear(3, 2), 'weight', nn.ReLU())",
        "nn.utils.prune.l1_unstructured(nn.Linear(3, 2), 'weight', 0.3)",
        "nn.DataParallel(own)",
        "nn.DataParallel(nn.Linear(3, 2))",
    ),
    "layers": ("nn.Sequential(nn.Linear(3, 2))", "nn.ModuleList([nn.ReLU()])"),
    "network": ("own", "Conv()", "Kept()"),
    "layer class": ("nn.Linear", "nn.Module"),
    "class": ("C", "D", "Net"),
    "object": ("C()", "D()", "Called()", "Set()", "Any()", "Lazy()"),
    "dtype": ("torch.float32", "torch.int64", "torch.double", "torch.ones(3).dtype", "torch.bool"),
    "device": ("torch.ones(3).device", "torch.device('cpu')"),
    "library": ("torch", "np", "nn", "F", "torch.optim", "torch.cuda", "torch.backends", "inspect", "collections"),
    "slice": ("slice(0, 2, 1)", "slice(None)"),
    "range": ("range(3)", "range(0)"),
    "size": ("torch.Size([2, 3])", "torch.ones(2, 3).shape", "torch.ones(2, 3).size()", "torch.ones(2, 3).shape[:1]"),
    "iterator": ("enumerate([1])", "iter([1])", "(i for i in [1])", "map(f, [1])", "zip([1])", "reversed([1])"),
    "optimizer": ("torch.optim.SGD(net.parameters(), 0.1)",),
    "type": ("type(net)", "type(1)", "type(own)", "int", "type(torch.ones(3))", "type('a')", "type([])", "str"),
    "array": ("np.zeros(3)",),
}
"""Values by kind."""

PYTHON = ("number", "text", "none", "tuple", "list", "dict", "set", "slice", "range", "size")
TENSORS = ("float", "other float", "integer", "boolean")
KNOWN_TENSORS = ("float", "integer", "boolean")
MODULES = ("layer", "layers", "network")
CLASSES = ("layer class", "class")
FUNCTIONS = ("function", "library function", "method")
EVERY = tuple(VALUES)
"""Kinds of values that are asked about together."""


class Answer(Enum):
    """What becomes of a test: one side is taken, or an exception is raised."""

    TRUE = 0
    FALSE = 1
    RAISES = 2


@dataclass(frozen=True)
class Question:
    """A test of ``v``."""

    text: str
    # The kinds of values that it is asked about.
    about: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A question about one value, with the answers that Python and the engine give."""

    value: str
    kind: str
    question: Question
    real: Answer
    # What the engine finds possible.
    possible: frozenset[Answer]

    @property
    def is_wrong(self) -> bool:
        """Whether the answer is not among those that are possible; that it may raise is not always known."""
        is_open = {Answer.TRUE, Answer.FALSE} <= self.possible
        return self.real not in self.possible and not (is_open and self.real is Answer.RAISES)

    @property
    def is_decided(self) -> bool:
        return self.possible == {self.real}

    def __str__(self) -> str:
        possible = " or ".join(sorted(each.name for each in self.possible)) or "nothing"
        return f"{self.question.text}   of {self.value}: {self.real.name}, the engine says {possible}"


def questions(texts: str, about: tuple[str, ...]) -> list[Question]:
    return [Question(text.strip(), about) for text in texts.strip().split(";")]


def ask(kind: str, value: str, asked: list[Question]) -> list[Asked]:
    """``asked`` of a value. What seems to be wrong is asked again by itself, so that no answer follows from another."""
    setting: dict[str, object] = {}
    exec(SETTING, setting)
    found: list[Asked] = []
    for question, sides in zip(asked, answers(value, asked)):
        each = Asked(value, kind, question, really(setting, value, question.text), sides)
        if each.is_wrong:
            each = Asked(value, kind, question, each.real, answers(value, [question])[0])
        found.append(each)
    return found


def answers(value: str, asked: list[Question]) -> list[frozenset[Answer]]:
    """What the engine finds possible for each question of a program that asks them all."""
    text = SETTING
    for question in asked:
        text += f"v = {value}\ntry:\n    r = 1 if {question.text} else 0\nexcept Exception:\n    r = 2\n"
    source = parse(text, "questions.py")
    reached: set[ast.AST] = set()
    for unit in executed(made(source, Facts())):
        reached |= unit.completed
    return [possible(node, reached) for node in source.tree.body if isinstance(node, ast.Try)]


def really(setting: dict[str, object], value: str, question: str) -> Answer:
    """What Python says."""
    names = dict(setting, v=eval(value, setting))
    code: CodeType = compile(question, "question", "eval")
    try:
        return Answer.TRUE if eval(code, names) else Answer.FALSE
    except Exception:
        return Answer.RAISES


def possible(test: ast.Try, reached: set[ast.AST]) -> frozenset[Answer]:
    """The sides of a test, and its handler, that were executed."""
    choice = test.body[0]
    assert isinstance(choice, ast.Assign) and isinstance(choice.value, ast.IfExp)
    sides = {
        Answer.TRUE: choice.value.body,
        Answer.FALSE: choice.value.orelse,
        Answer.RAISES: test.handlers[0].body[0],
    }
    return frozenset(answer for answer, node in sides.items() if node in reached)


UNDECIDED = Path(__file__).with_name("undecided.txt")
"""The questions that the engine does not decide for all values of a kind: one a line, with these kinds."""


def undecided() -> dict[str, frozenset[str]]:
    """What may stay unknown: kinds of values by question."""
    rows = (line.partition(" | ") for line in UNDECIDED.read_text(encoding="utf-8").splitlines())
    return {question: frozenset(kinds.split(", ")) for question, _, kinds in rows}


def asked_about(kind: str, table: list[Question]) -> list[Asked]:
    """Every question of the table that is asked about a kind, of every value of that kind."""
    mine = [question for question in table if kind in question.about]
    return [each for value in VALUES[kind] for each in ask(kind, value, mine)]


CLASS_NAMES = (
    "torch.Tensor; nn.Module; nn.Parameter; (list, tuple); list; int; float; (int, float); str; dict; slice; "
    "torch.dtype; torch.Size; type; nn.Linear; C; D; range; set; torch.optim.Optimizer; torch.device; "
    "bool; torch.FloatTensor; torch.LongTensor; nn.Sequential; nn.Conv2d; nn.modules.conv._ConvNd; np.ndarray; "
    "nn.modules.batchnorm._BatchNorm; nn.modules.linear.Linear; Iterable; Mapping; collections.OrderedDict; "
    "numbers.Number; types.FunctionType; types.ModuleType; object; tuple; bytes; type(None); np.floating; "
    "torch.autograd.Variable; "
    "collections.abc.Callable; torch.DoubleTensor; collections.abc.Sequence; torch.optim.SGD; Net; nn.ModuleList"
)
"""Classes that values are compared with."""
NAMES = (
    "shape parameters __len__ weight dtype flag __call__ keys append training items dim nope forward numpy module "
    "limit later own put got method mask _modules reset_parameters in_features bias upper __dict__ __iter__ relu "
    "Linear step param_groups device is_cuda T H grad __name__ __doc__ start index type mps compile signature deque "
    "real __enter__ weight_orig parametrizations inner add_module is_floating_point"
)
"""Attributes that values are asked for."""
OTHERS = "None torch np torch.float32 0 'a' (1,2) False True torch.int64 C nn.Linear f [1,2] () {} int torch.Tensor own"
"""What values are compared with."""

TABLE: list[Question] = [
    *(Question(f"isinstance(v, {name.strip()})", EVERY) for name in CLASS_NAMES.split(";")),
    *(Question(f"issubclass(type(v), {name.strip()})", EVERY) for name in CLASS_NAMES.split(";")[:12]),
    *(Question(f"issubclass(v, {name.strip()})", (*CLASSES, "type")) for name in CLASS_NAMES.split(";")[:20]),
    *(Question(f"type(v) {op} {name}", EVERY) for op, name in product(("is", "=="), ("int", "torch.Tensor", "list"))),
    *(Question(f"hasattr(v, {name!r})", EVERY) for name in NAMES.split()),
    *(Question(f"v {op} {other}", EVERY) for op, other in product(("is", "==", "!=", "is not"), OTHERS.split())),
    *questions("type(v) in (list, tuple); type(v) != str; callable(v); torch.is_tensor(v); v in (None, 1)", EVERY),
    *questions("len(v) == 2; len(v) > 0; not v; bool(v); v; len(v)", (*PYTHON, "other dict")),
    *questions("v is not None and len(v) > 1; isinstance(v, dict) and 'a' in v", PYTHON),
    *questions(
        "v.is_floating_point(); torch.is_floating_point(v); v.dtype.is_floating_point; v.dtype == torch.float32; "
        "v.dtype != torch.float32; v.dtype in (torch.float32, torch.float64); v.dtype is torch.float; "
        "v.dtype not in (torch.float, torch.double); v.dtype == torch.ones(1).dtype; v.dtype is torch.int64; "
        "v.is_complex(); torch.is_complex(v); v.dtype.is_complex; v.dtype == torch.bool; "
        "v.dtype == torch.long; v.is_sparse; v.layout == torch.strided; v.is_quantized; v.is_meta; v.is_mkldnn; "
        "v.is_cuda; v.is_cuda or v.is_xpu; v.device == v.device; v.device.type == 'cpu'; "
        "v.device.type != 'cpu'; v.device == torch.device('cpu'); v.device.index is None; "
        "v.device.type in ('cuda', 'xpu'); 'cuda' in str(v.device); v.dim() == 1; v.ndim > 1; len(v.shape) == 2; "
        "v.shape[0] == 3; v.size(0) == 2; v.shape == torch.Size([3]); v.shape == (3,); len(v) == 3; v.numel() > 1; "
        "v.size() == torch.Size([2, 3]); v.nelement() == 3; v.ndim; v.shape[-1] > 1; v.requires_grad; v.is_leaf; "
        "v.grad is None; v.grad_fn is None; v.is_inference(); v.is_contiguous(); v.data.dtype == torch.float32; "
        "v.shape != torch.ones(2).shape; "
        "list(v.shape) == [3]; v.dtype == torch.float64; v.dtype.is_signed; "
        "v == 0; v > 0; bool(v); not v; v; (v == 0).any(); (v == 0).dtype == torch.bool; v.is_signed(); "
        "v.type() == 'torch.FloatTensor'",
        TENSORS,
    ),
    *questions("v.is_floating_point; v.is_complex; v.is_signed", ("dtype",)),
    *questions("v.type == 'cpu'; v.index is None; str(v) == 'cpu'", ("device",)),
    *questions(
        "len(inspect.signature(v).parameters) == 1; 'y' in inspect.signature(v).parameters; "
        "'x' in inspect.signature(v).parameters; len(inspect.signature(v).parameters) > 1; "
        "'nope' not in inspect.signature(v).parameters.keys(); list(inspect.signature(v).parameters) == ['x', 'y']",
        FUNCTIONS,
    ),
]


def write_undecided() -> None:
    """Ask everything, and write down what is not decided."""
    found: dict[str, dict[str, None]] = {}
    for kind in VALUES:
        for each in asked_about(kind, TABLE):
            if not each.is_decided:
                found.setdefault(each.question.text, {})[kind] = None
    text = "".join(f"{question} | {', '.join(kinds)}\n" for question, kinds in sorted(found.items()))
    UNDECIDED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_undecided()
