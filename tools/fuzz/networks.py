"""Statements about nn modules: layers, classes of the program's own, recurrent cells, copies, optimizers."""

from __future__ import annotations

from .expressions import Made
from .writer import Writer, statement

LAYERS = (
    ("nn.Linear(4, 4)", "VM"),
    ("nn.Linear(4, 4, bias=False)", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.ReLU())", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())", "VM"),
    ("nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.Tanh())", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.1, inplace=True), nn.Dropout(0.5))", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.Hardtanh(inplace=True), nn.Softmax(dim=-1))", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.ELU(inplace=True))", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.SiLU(inplace=True))", "VM"),
    ("nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.GELU())", "M"),
    ("nn.Sequential(nn.Linear(4, 4), nn.PReLU(), nn.GroupNorm(2, 4))", "M"),
    ("nn.Sequential(nn.Linear(4, 8), nn.GLU())", "VM"),
    ("nn.Conv1d(4, 4, 1)", "M"),
    ("nn.Conv1d(4, 4, 3, padding=1)", "M"),
    ("nn.ConvTranspose1d(4, 4, 1)", "M"),
    ("nn.RMSNorm(4)", "VM"),
    ("nn.BatchNorm1d(4, bias=False)", "M"),
    ("nn.InstanceNorm1d(4, affine=True)", "M"),
    ("nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))", "VM"),
    ("nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))", "VM"),
    ("nn.utils.spectral_norm(nn.Linear(4, 4))", "VM"),
    ("nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)", "M"),
    ("nn.Sequential(nn.Flatten(0), nn.Linear(16, 16), nn.Unflatten(0, (4, 4)))", "M"),
)
"""With parameters; a layer gives the type it takes."""
PLAIN = (
    ("nn.Tanh()", "VM"),
    ("nn.Softplus()", "VM"),
    ("nn.ReLU(inplace=True)", "VM"),
    ("nn.Dropout(0.5)", "VM"),
    ("nn.Softmax(dim=-1)", "VM"),
    ("nn.Identity()", "VM"),
    ("nn.LayerNorm(4, elementwise_affine=False)", "VM"),
    ("nn.BatchNorm1d(4, affine=False)", "M"),
)
OPTIMIZERS = (
    "torch.optim.SGD({}, lr=0.1)",
    "torch.optim.SGD({}, lr=0.1, momentum=0.9)",
    "torch.optim.Adam({})",
    "torch.optim.AdamW({}, lr=0.01)",
    "torch.optim.RMSprop({}, lr=0.01)",
    "torch.optim.Adagrad({})",
    "torch.optim.Adam({}, foreach=True)",
    "torch.optim.SGD({}, lr=0.1, fused=True)",
)
MIDDLES = (
    "y = F.relu(y)",
    "y = y.tanh()",
    "y = y * self.w",
    "y += self.w",
    "y.relu_()",
    "y = y + x",
    "y *= 2",
    "y = y.softmax(-1)",
    "y[..., 0] = 0",
    "y = F.dropout(y, 0.2, self.training)",
    "for block in self.blocks:\n    y = block(y)",
)
STATES = (
    ("zeros", "self.h = y.mean(0) + self.h", "y + self.h"),
    ("zeros", "self.h = (self.h * 0.5 + y.sum(0)).tanh()", "y * self.h"),
    ("zeros", "self.h = self.h.detach() + y.mean(0)", "y + self.h"),
    ("zeros", "self.h = y.detach().mean(0)", "y * self.h"),
    ("buffer", "self.h.mul_(0.9).add_(y.detach().mean(0))", "y - self.h"),
    ("buffer", "self.h.mul_(0.9).add_(y.detach().mean(0))", "y * self.h"),
    ("buffer", "self.h.copy_(y.data.mean(0))", "y / (self.h + 9)"),
    ("none", "self.h = y.mean(0) if self.h is None else self.h + y.mean(0)", "y + self.h"),
    ("none", "if self.h is None:\n    self.h = y.mean(0).exp()", "y + self.h"),
)


def add(w: Writer, name: str, kinds: str, trained: bool) -> None:
    w.scope.modules[name] = kinds
    if trained:
        w.scope.networks.append(name)


@statement(3)
def layer(w: Writer) -> bool:
    """A layer or a few in a row."""
    if w.indent or w.mode:
        return False
    trained = w.rng.random() < 0.8
    text, kinds = w.rng.choice(LAYERS if trained else PLAIN)
    name = w.fresh("net")
    w.write(f"{name} = {text}")
    add(w, name, kinds, trained)
    return True


@statement(3)
def network(w: Writer) -> bool:
    """A class of the program's own, with a state on ``self`` more often than not."""
    if w.indent or w.mode:
        return False
    rng, cls, name = w.rng, w.fresh("Net"), w.fresh("net")
    lines = rng.sample(MIDDLES, rng.randint(1, 3))
    state = rng.choice(STATES) if rng.random() < 0.55 else None
    w.write(f"class {cls}(nn.Module):")
    w.write("    def __init__(self):")
    w.write("        super().__init__()")
    w.write(f"        self.a = {rng.choice(LAYERS[:8])[0]}")
    w.write("        self.b = nn.Linear(4, 4)")
    w.write("        self.w = nn.Parameter(torch.ones(4))")
    if any("blocks" in line for line in lines):
        w.write("        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])")
    if state:
        begin = {"zeros": "self.h = torch.zeros(4)", "none": "self.h = None"}
        w.write(f"        {begin.get(state[0], 'self.register_buffer({!r}, torch.zeros(4))'.format('h'))}")
    w.write("    def forward(self, x):")
    w.write("        y = self.a(x)")
    for line in (*lines, *([state[1]] if state else ()), "y = self.b(y)"):
        for part in line.split("\n"):
            w.write(f"        {part}")
    w.write(f"        return {state[2] if state else 'y'}")
    if state and rng.random() < 0.3:
        w.write("    def reset(self):")
        w.write(f"        self.h = {rng.choice(('torch.zeros(4)', 'self.h.detach()'))}")
    w.write(f"{name} = {cls}()")
    add(w, name, "M", True)
    if state and state[0] != "none":
        w.keep(f"{name}.h", Made("", state[0] == "zeros", frozenset()), "V")
    return True


@statement(3)
def optimizer(w: Writer) -> bool:
    if w.indent or w.mode:
        return False
    leaves = [v.text for v in w.scope.leaves()]
    what = [f"{m}.parameters()" for m in w.scope.networks] * 2
    what += [f"[{', '.join(leaves)}]"] if leaves else []
    if len(w.scope.networks) > 1:
        what.append(f"[*{w.scope.networks[0]}.parameters(), *{w.scope.networks[1]}.parameters()]")
    if leaves and w.scope.networks:
        what.append(f"[{{'params': {w.scope.networks[0]}.parameters()}}, {{'params': [{leaves[0]}], 'lr': 0.01}}]")
    if not what:
        return False
    name = w.fresh("opt")
    w.write(f"{name} = {w.rng.choice(OPTIMIZERS).format(w.rng.choice(what))}")
    w.scope.optimizers.append(name)
    return True


def _average(w: Writer, one: str, two: str) -> None:
    """Move the weights of ``one`` towards those of ``two``, through ``.data`` or under ``no_grad``."""
    loop = f"for p, q in zip({two}.parameters(), {one}.parameters()):"
    if w.rng.random() < 0.5:
        w.write(loop)
        w.write("    q.data.mul_(0.9).add_(p.data, alpha=0.1)")
    else:
        w.write("with torch.no_grad():")
        w.write(f"    {loop}")
        w.write("        q.mul_(0.9).add_(p, alpha=0.1)")


@statement(4)
def twin(w: Writer) -> bool:
    """A copy of a network or of a tensor, and weights that go from one to the other."""
    rng = w.rng
    if w.scope.twins and rng.random() < 0.7:
        one, two = rng.choice(w.scope.twins)
        if rng.random() < 0.5:
            one, two = two, one
        if rng.random() < 0.6:
            w.write(f"{one}.load_state_dict({two}.state_dict())")
        else:
            _average(w, one, two)
        return True
    if w.indent or w.mode:
        return False
    if w.scope.networks and rng.random() < 0.7:
        old, name = rng.choice(w.scope.networks), w.fresh("net")
        if any(line.startswith(old + " = ") and "torch.zeros" in line for line in w.lines):
            return False
        w.write(f"{name} = copy.deepcopy({old})")
        add(w, name, w.scope.modules[old], True)
        w.scope.twins.append((old, name))
        if rng.random() < 0.3:
            w.write(f"{name}.requires_grad_(False)")
        return True
    leaves = w.scope.leaves()
    if not leaves:
        return False
    leaf = rng.choice(leaves)
    w.let(w.fresh("c"), Made(f"copy.deepcopy({leaf.text})", True, frozenset(), True), leaf.type)
    return True


@statement(2)
def switch(w: Writer) -> bool:
    """Modes and flags of a network."""
    if not w.scope.networks:
        return False
    net = w.rng.choice(w.scope.networks)
    texts: tuple[str, ...] = (
        "{0}.eval()",
        "{0}.train()",
        "{0}.requires_grad_(False)",
        "{0}.requires_grad_(True)",
        "{0}.zero_grad()",
    )
    freeze = "for p in {0}.parameters():\n{1}p.requires_grad = False"
    texts += (freeze, "for p in {0}.parameters():\n{1}p.data.clamp_(-0.1, 0.1)")
    w.write(w.rng.choice(texts).format(net, "    " * (w.indent + 1)))
    return True


@statement(1)
def module_hook(w: Writer) -> bool:
    if not w.scope.networks or w.mode:
        return False
    texts = (
        "{0}.register_forward_hook(lambda m, args, out: None)",
        "{0}.register_forward_hook(lambda m, args, out: out * 2)",
        "{0}.register_forward_pre_hook(lambda m, args: None)",
        "{0}.register_full_backward_hook(lambda m, given, came: None)",
        "seen = []\n{0}.register_forward_hook(lambda m, args, out: seen.append(out.detach()))",
    )
    w.write(w.rng.choice(texts).format(w.rng.choice(w.scope.networks)).replace("\n", "\n" + "    " * w.indent))
    return True


@statement(3)
def recurrent(w: Writer) -> bool:
    """Cells and recurrent layers; their state goes on, cut or not."""
    rng, cells = w.rng, w.scope.cells
    if not cells or rng.random() < 0.2 and not w.indent:
        if w.indent or w.mode:
            return False
        name, one, two = w.fresh("cell"), w.fresh("h"), w.fresh("c")
        kind = rng.choice(("GRUCell", "LSTMCell", "RNNCell", "GRU", "LSTM"))
        w.write(f"{name} = nn.{kind}(4, 4)")
        shape = "4, 4" if kind.endswith("Cell") else "1, 4"
        states = [one, two] if "LSTM" in kind else [one]
        for state in states:
            w.write(f"{state} = torch.zeros({shape})")
        cells[name] = (kind, *states)
        return True
    name = rng.choice(sorted(cells))
    kind, *states = cells[name]
    given = w.expr("M", 1)
    state = f"({', '.join(states)})" if len(states) > 1 else states[0]
    out = w.fresh("out")
    if kind.endswith("Cell"):
        w.write(f"{', '.join(states)} = {name}({given.text}, {state})")
        w.let(out, Made(rng.choice(("{0}", "{0} * 2", "{0}.tanh()")).format(states[0]), True, given.past), "M")
    else:
        w.write(f"{out}, {state} = {name}({given.text}, {state})")
        w.keep(out, Made(out, True, given.past), "M")
    for one in states:
        if rng.random() < 0.25:
            w.write(f"{one} = {one}.detach()")
    return True
