"""Statements about what surrounds training: averages of weights, scalers, autocast, clipping, hooks on what is saved,
distributions, embeddings, packed sequences.
"""

from __future__ import annotations

from .expressions import Made, of
from .scope import Callee
from .writer import Writer, statement


def matrix_networks(w: Writer) -> list[str]:
    return [n for n in w.scope.networks if "M" in w.scope.modules.get(n, "")]


@statement(2)
def averaged(w: Writer) -> bool:
    """An average of weights that follows a network, and may be called like it."""
    rng, averages = w.rng, w.scope.averages
    if averages and rng.random() < 0.7:
        average, net = rng.choice(averages)
        w.write(f"{average}.update_parameters({net})")
        return True
    if w.indent or w.mode or not w.scope.networks:
        return False
    net, name = rng.choice(w.scope.networks), w.fresh("ema")
    if any(line.startswith(net + " = ") and "torch.zeros" in line for line in w.lines):
        return False
    extra = rng.choice(("", "", ", multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)"))
    w.write(f"{name} = torch.optim.swa_utils.AveragedModel({net}{extra})")
    averages.append((name, net))
    w.scope.modules[name] = w.scope.modules[net]
    return True


@statement(2)
def scaled(w: Writer) -> bool:
    """The steps of mixed precision, on a machine where the scaler is idle; the forward may be cast."""
    rng, networks = w.rng, matrix_networks(w)
    if w.mode or w.indent > 1 or not networks or not w.scope.optimizers:
        return False
    net, opt, loss, scaler = rng.choice(networks), rng.choice(w.scope.optimizers), w.fresh("loss"), w.fresh("scaler")
    x, y = w.expr("M", 1), w.expr("M", 0)
    w.write(f"{scaler} = torch.amp.GradScaler('cpu', enabled=False)")
    if rng.random() < 0.6:
        w.write("with torch.autocast('cpu', dtype=torch.bfloat16):")
        w.write(f"    {loss} = F.mse_loss({net}({x.text}).float(), {y.text})")
    else:
        w.write(f"{loss} = F.mse_loss({net}({x.text}), {y.text})")
    if rng.random() < 0.2:
        w.write(f"{opt}.step()")
    w.write(f"{scaler}.scale({loss}).backward({rng.choice(('', '', 'retain_graph=True'))})")
    if rng.random() < 0.3:
        w.write(f"{scaler}.unscale_({opt})")
        w.write(f"nn.utils.clip_grad_norm_({net}.parameters(), 1.0)")
    w.write(f"{scaler}.step({opt})")
    w.write(f"{scaler}.update()")
    if rng.random() < 0.4:
        w.write(f"{opt}.zero_grad()")
    w.keep(loss, Made(loss, True, x.past | y.past), "S")
    return True


@statement(2)
def clipped(w: Writer) -> bool:
    """Gradients, or the weights themselves."""
    if not w.scope.networks:
        return False
    net = w.rng.choice(w.scope.networks)
    inner = "    " * (w.indent + 1)
    texts = (
        "nn.utils.clip_grad_value_({0}.parameters(), 0.5)",
        "nn.utils.clip_grad_norm_({0}.parameters(), 0.5, foreach=False)",
        "with torch.no_grad():\n{1}for p in {0}.parameters():\n{1}    p.clamp_(-0.2, 0.2)",
        "with torch.no_grad():\n{1}for p in {0}.parameters():\n{1}    p.copy_(p * 0.5)",
        "nn.utils.vector_to_parameters(nn.utils.parameters_to_vector({0}.parameters()).detach(), {0}.parameters())",
        "{0}.apply(lambda m: nn.init.zeros_(m.bias) if getattr(m, 'bias', None) is not None else None)",
    )
    w.write(w.rng.choice(texts).format(net, inner))
    return True


@statement(2)
def packing(w: Writer) -> bool:
    """Hooks on what nodes save: it is no longer checked whether that was written."""
    if w.indent > 1 or w.mode:
        return False
    pack, unpack = w.rng.choice((("t", "t"), ("t.clone()", "t"), ("t.detach()", "t")))
    w.body(f"with torch.autograd.graph.saved_tensors_hooks(lambda t: {pack}, lambda t: {unpack}):", 3)
    return True


@statement(2)
def distribution(w: Writer) -> bool:
    """Samples with and without a path for gradients, and their probabilities."""
    one, two = w.expr("V", 1), w.expr("V", 1)
    past, name, draw = one.past | two.past, w.fresh("dist"), w.fresh("z")
    w.write(f"{name} = torch.distributions.Normal({one.text}, {two.text}.sigmoid() + 0.1)")
    if w.rng.random() < 0.5:
        w.let(draw, Made(f"{name}.rsample()", one.grad or two.grad, past), "V")
    else:
        w.let(draw, Made(f"{name}.sample()", False, frozenset()), "V")
    score = w.rng.choice((f"{name}.log_prob({draw}).mean()", f"{name}.entropy().sum()"))
    w.let(w.fresh("t"), Made(score, one.grad or two.grad, past), "S")
    return True


@statement(1)
def embedding(w: Writer) -> bool:
    """Rows looked up by number."""
    if w.indent or w.mode:
        return False
    table, look = w.fresh("emb"), w.fresh("f")
    w.write(f"{table} = nn.Embedding(4, 4{w.rng.choice(('', '', ', padding_idx=0', ', max_norm=1.0'))})")
    w.write(f"{look} = lambda: {table}(torch.tensor([0, 2, 1, 3]))")
    w.scope.functions.append(Callee(look, (), "M"))
    if w.rng.random() < 0.4:
        w.write(f"{(opt := w.fresh('opt'))} = torch.optim.SGD({table}.parameters(), lr=0.1)")
        w.scope.optimizers.append(opt)
    return True


@statement(1)
def packed(w: Writer) -> bool:
    """Sequences of different lengths through a recurrent layer."""
    if w.indent or w.mode:
        return False
    cell, given, out = w.fresh("rnn"), w.expr("M", 1), w.fresh("out")
    w.write(f"{cell} = nn.{w.rng.choice(('GRU', 'RNN'))}(4, 4)")
    seq = w.fresh("seq")
    w.write(f"{seq} = nn.utils.rnn.pack_padded_sequence(({given.text}).view(2, 2, 4), [2, 1])")
    w.write(f"{out}, _ = nn.utils.rnn.pad_packed_sequence({cell}({seq})[0])")
    w.let(w.fresh("t"), Made(f"{out}.sum(0)", True, given.past), "H")
    return True


@statement(2)
def many_gradients(w: Writer) -> bool:
    """A root that is no scalar: with a gradient to begin with, or several of them at once."""
    found = [v for v in w.scope.trained(w.careful()) if v.type == "V"]
    leaves = w.scope.leaves()
    if w.mode or not found or not leaves:
        return False
    root, leaf = w.rng.choice(found), w.rng.choice(leaves)
    rest = w.rng.choice(("", ", retain_graph=True", ", create_graph=True"))
    begin = w.rng.choice((f"torch.ones_like({root.text})", f"[{root.text}.detach()]", "torch.eye(4)"))
    batched = ", is_grads_batched=True" if begin == "torch.eye(4)" else ""
    made = f"torch.autograd.grad({root.text}, {leaf.text}, {begin}{batched}{rest}, allow_unused=True)"
    w.write(f"{w.fresh('g')} = {made}[0]")
    if not rest:
        w.scope.freed |= of(root).past
    return True


@statement(1)
def another_memory(w: Writer) -> bool:
    """``set_`` on data, ``resize_`` never: what it gives is not initialised."""
    found = [v for v in w.scope.variables.values() if not v.grad and v.text[0] in "dc" and v.text.isidentifier()]
    if not found:
        return False
    chosen = w.rng.choice(found)
    value = w.expr(chosen.type, 0)
    w.write(f"{chosen.text}.{w.rng.choice(('set_', 'data.set_', 'copy_'))}({value.text}.detach().clone())")
    return True
