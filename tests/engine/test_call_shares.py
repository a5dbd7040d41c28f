"""A call that takes more than its share of the fuel is left; what calls it goes on, and nothing false follows."""

from __future__ import annotations

from dataclasses import replace

from tapelint.analysis import Report, analyse
from tapelint.engine.incremental import AnalysisCache
from tapelint.engine.limits import Limits, of_caller
from tapelint.severity import Severity

SMALL = Limits(entry_fuel=2_000, idle_entry_fuel=2_000, least_share=50)
WORK = "    print(x)\n" + "\n".join(f"    y{i} = x * {i} + x ** {i} - x / {i + 1}" for i in range(400))
PROGRAM = f"""\
import torch

def slow(x):
{WORK}
    return y1

def train(data):
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    slow(data)
    y += 1
    y.sum().backward()
"""
METHODS = f"""\
import torch
class Trainer:
    def __init__(self):
        self.w = torch.ones(3, requires_grad=True)
        self.ready = False
    def prepare(self, x):
{WORK.replace("    ", "        ")}
        self.ready = True
    def fit(self, x):
        self.prepare(x)
        y = self.w.exp()
        if self.ready:
            y += 1
        y.sum().backward()
"""
ENTRIES = "import torch\n" + "\n".join(f"def f{i}(x):\n{WORK}" for i in range(4)) + "\ndef last(x): return x.exp()\n"


def codes(report: Report) -> list[str]:
    return [found.code for found in report.diagnostics]


def test_what_calls_it_is_followed_to_its_end():
    assert codes(analyse(PROGRAM)) == ["TL201"]
    report = analyse(PROGRAM, limits=SMALL)
    assert codes(report) == ["TL201"]
    assert report.stats["out_of_fuel"] == 0
    assert report.notices[0].message == "`slow` (line 3) takes too long: its call was left out"


def test_what_trains_may_take_all():
    assert analyse(PROGRAM.replace("return y1", "x.backward()"), limits=SMALL).stats["out_of_fuel"] > 0


def test_in_a_caller_what_is_called_may_take_all():
    small = replace(SMALL, call_share=of_caller(0).call_share)
    assert analyse(PROGRAM, limits=SMALL).stats["out_of_fuel"] == 0
    assert analyse(PROGRAM, limits=small).stats["out_of_fuel"] > 0


def test_what_it_assigns_is_unknown():
    assert codes(analyse(METHODS)) == ["TL201"]
    report = analyse(METHODS, limits=SMALL)
    assert report.stats["out_of_fuel"] == 0
    assert codes(report) == ["TL201"]  # not that `ready` is still False


BUFFERS = f"""\
import torch
from torch import nn
class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(3, 3).requires_grad_())
    def forward(self, x):
    {WORK.replace(chr(10), chr(10) + "    ")}
        return nn.functional.linear(x, self.weight)
def train():
    net = Linear()
    net(torch.ones(1, 3)).sum().backward()
"""


def test_what_a_network_returns_depends_on_all_leaves_in_it():
    assert codes(analyse(BUFFERS)) == codes(analyse(BUFFERS, limits=SMALL)) == []
    assert codes(analyse(BUFFERS.replace(".requires_grad_()", ""), limits=SMALL)) == ["TL301"]
    changed = BUFFERS.replace("net = Linear()", "net = Linear()\n    net.weight = net.weight * 2")
    assert codes(analyse(changed, limits=SMALL)) == []


PARTS = f"""\
import torch
from torch import nn
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
    {WORK.replace(chr(10), chr(10) + "    ")}
        return self.layer(x), {{}}
def train(net: Two, x):
    first, second = net(x)
    first["mean"] = second
    y = torch.ones(3, requires_grad=True).exp()
    y += 1
    y.sum().backward()
"""


def test_a_part_of_the_first_of_several_results_may_change():
    assert "TL201" in codes(analyse(PARTS, limits=SMALL))


HANDED = f"""\
import torch
def study(run, x):
    for i in range(2):
        run(x)
def objective(x):
{WORK}
    loss = torch.ones(3, requires_grad=True).exp().sum()
    loss.backward()
    loss.backward()
def main():
    print(study(objective, 3))
main()
"""


def test_what_it_was_given_to_call_has_no_caller():
    assert codes(analyse(HANDED)) == ["TL101"]
    report = analyse(HANDED, limits=replace(SMALL, script_fuel=1_000, entry_fuel=10_000))
    assert report.notices[0].message == "`study` (line 2) takes too long: its call was left out"
    assert codes(report) == ["TL101"]


HOOKED = f"""\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
    def forward(self, x):
{WORK.replace("    ", "        ")}
        return self.inner(x)
class Saved:
    def __init__(self, layer):
        layer.register_forward_hook(self.keep)
    def keep(self, layer, given, result):
        self.features = result
def train(data):
    net = Net()
    saved = Saved(net.inner)
    for x in data:
        net(x)
        saved.features.exp().sum().backward()
"""


def test_the_hooks_of_what_is_in_it_run():
    assert codes(analyse(HOOKED)) == []
    report = analyse(HOOKED, limits=replace(SMALL, entry_fuel=10_000))
    assert report.notices[0].message == "`forward` (line 7) takes too long: its call was left out"
    assert codes(report) == []  # not that what the hook has kept is of the call before


OPTION = """\
if library.{name}:
    {name} = torch.ones({size}, requires_grad=True)
else:
    {name} = None
"""
OPTIONS = "".join(OPTION.format(name=name, size=size) for size, name in enumerate("abcd"))
SCRIPT = f"""\
import torch
import library
{OPTIONS}
w = torch.ones(3, requires_grad=True)
def build(x):
{WORK}
    return y1
for x in torch.ones(4, 3):
    build(x)
    print(a, b, c, d)
y = w.exp()
y += 1
y.sum().backward()
"""


def test_a_script_that_needs_more_is_looked_at_again_along_one_path():
    assert codes(analyse(SCRIPT, limits=Limits(script_fuel=400_000))) == ["TL201"]
    limits = Limits(script_fuel=26_000, call_share=1)
    assert codes(analyse(SCRIPT, limits=limits)) == []  # a caller is not
    report = analyse(SCRIPT, limits=replace(limits, call_share=2))
    assert report.stats["out_of_fuel"] == 1
    assert codes(report) == ["TL201"]


WITHIN = SCRIPT.replace(
    "y = w.exp()\ny += 1\ny.sum().backward()", "    y = w.exp()\n    y += 1\n    y.sum().backward()"
)


def test_paths_that_wait_when_the_fuel_is_gone_are_no_choices():
    """On the first of sixteen paths it happens; that the others came no further does not make it need four options."""
    report = analyse(WITHIN, limits=Limits(script_fuel=9_000, call_share=1))
    assert report.stats["out_of_fuel"] == 1
    (found,) = report.diagnostics
    assert (found.code, found.severity) == ("TL201", Severity.WARNING)


POOL = f"""\
import torch
def kept(x):
    return x.detach()
def pooled(x):
{WORK}
    return kept(x)
def train(net, optimizer, data):
    fake = pooled(net(data))
    for _ in range(2):
        optimizer.zero_grad()
        (fake * net(data)).sum().backward()
        optimizer.step()
"""


def test_what_may_cut_a_graph_is_not_taken_to_carry_it_on():
    assert codes(analyse(POOL)) == codes(analyse(POOL, limits=SMALL)) == []
    carried = POOL.replace("x.detach()", "x * 1")
    assert codes(analyse(carried)) == codes(analyse(carried, limits=SMALL)) == ["TL103"]


def test_an_entry_point_that_takes_too_much_does_not_keep_others_from_running():
    limits = Limits(idle_entry_fuel=500, all_idle_entries_fuel=600, late_entry_fuel=50)
    report = analyse(ENTRIES, limits=limits)
    assert report.stats["out_of_fuel"] == 4
    assert "`last`" not in report.notices[0].message
    assert analyse(ENTRIES, limits=Limits(all_entries_fuel=0)).stats["out_of_fuel"] == 5


def test_an_edit_is_judged_like_a_fresh_text():
    memory = AnalysisCache(persistent=True)
    analyse(PROGRAM, memory=memory, limits=SMALL)
    edited = PROGRAM.replace("y += 1", "y = y + 1")
    again, fresh = analyse(edited, memory=memory, limits=SMALL), analyse(edited, limits=SMALL)
    assert (codes(again), again.stats, again.notices) == (codes(fresh), fresh.stats, fresh.notices)


FORKS = "\n".join(f"    z{i} = w.exp() if flags[{i}] else w.detach()" for i in range(4))
WIDE = f"""\
import torch
def train(flags, x):
    w = torch.ones(3, requires_grad=True)
{FORKS}
{WORK}
    print(z0, z1, z2, z3)
    v = w.exp()
    v += 1
    v.sum().backward()
"""


def test_an_entry_point_that_is_short_of_fuel_follows_fewer_paths():
    wide = Limits(entry_fuel=200_000, all_entries_fuel=200_000)
    enough = analyse(WIDE, limits=wide)
    report = analyse(WIDE, limits=Limits(entry_fuel=enough.stats["steps"] * 3 // 4))
    assert report.stats["out_of_fuel"] == 0
    assert report.stats["dropped"] > enough.stats["dropped"]
    assert [found.code for found in report.diagnostics] == [found.code for found in enough.diagnostics] == ["TL201"]


NETWORK = f"""\
import torch
class Net(torch.nn.Module):
    def __init__(self, x):
        super().__init__()
{WORK.replace("    ", "        ")}
        self.fc = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x)
def train(data):
    net = Net(3)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in data:
        net(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def test_a_network_that_takes_too_long_to_build_is_one_of_which_only_that_is_known():
    report = analyse(NETWORK, limits=SMALL)
    assert "`__init__` takes too long" in report.notices[0].message
    assert report.stats["known_roots"] == report.stats["backward_sites"] == 1
    assert codes(report) == []


TWIN = f"""\
import torch
class Twin(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    def forward(self, x):
{WORK.replace("    ", "        ")}
        return {{returned}}
def train(data):
    net = Twin()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in data:
        a, b = net(x)
        optimizer.zero_grad()
        a.exp().sum().backward()
        b.exp().sum().backward()
        optimizer.step()
"""


def test_each_of_several_results_of_a_network_may_have_a_graph_of_its_own():
    both = TWIN.format(returned="self.first(x).exp(), self.second(x).exp()")
    assert codes(analyse(both)) == codes(analyse(both, limits=SMALL)) == []
    one = TWIN.format(returned="torch.cat([self.first(x), self.second(x)], 1).exp().unbind(1)")
    assert codes(analyse(one)) == codes(analyse(one, limits=SMALL)) == ["TL101"]


COUNTED = f"""\
import numpy
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 1)
    def forward(self, x):
{WORK.replace("    ", "        ")}
        error = self.inner(x) - 1
        return error.abs().exp().sum(), (error < 0.1).sum(), (error < 0.2).sum()
def train(data):
    net, penalty = Net(), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in data:
        loss, hits, more = net(x)
        optimizer.zero_grad()
        {{root}}.backward()
        optimizer.step()
        print(numpy.array([hits * 100, more]))
"""


def test_what_a_network_returns_beside_its_loss_may_be_a_number():
    for root in ("loss", "loss.mean()", "(loss + penalty.exp())"):
        assert codes(analyse(COUNTED.format(root=root), limits=SMALL)) == []


def test_dtypes_of_different_families_are_not_equal():
    text = """\
import torch
f, i, b = torch.ones(3), torch.arange(3), torch.ones(3) > 1
x = torch.ones(3)
if f.dtype == torch.long or i.dtype == torch.float32 or b.dtype != torch.bool or i.long().dtype == torch.float:
    x.sum().backward()
if b.dtype == bool:  # a type of Python is no dtype
    pass
"""
    assert codes(analyse(text)) == []
    assert codes(analyse(text.replace("f.dtype == torch.long", "b.dtype == torch.bool"))) == ["TL301"]


BUFFERED = f"""\
import torch
class Buffer:
    def put(self, x, more):
        x = x{{cut}}
        if more:
{WORK.replace("    ", "            ")}
        return x + 1
def train():
    w = torch.ones(3, requires_grad=True)
    buffer = Buffer()
    for more in (False, True):
        fake = w.exp()
        fake.sum().backward()
        real = torch.ones(3, requires_grad=True)
        (real.exp() + buffer.put(fake, more)).sum().backward()
"""


def test_what_it_cut_before_is_not_taken_to_carry_a_graph():
    whole, cut = BUFFERED.format(cut=""), BUFFERED.format(cut=".detach()")
    assert codes(analyse(cut, limits=SMALL)) == codes(analyse(cut)) == []
    assert codes(analyse(whole, limits=SMALL)) == codes(analyse(whole)) == ["TL101"]


RECURRENT = f"""\
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
    def memory(self, h):
        return [{{kept}}]
    def forward(self, x, memory):
{WORK.replace("    ", "        ")}
        h = self.layer(x) * sum(memory)
        return [h.sum()] + self.memory(h)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
def train(data, memory):
    for x in data:
        out = net(x, memory)
        {{taken}}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_which_results_a_network_cut_is_unknown():
    for taken in ("loss, memory = out[0], out[1:]", "loss, *memory = out", "loss = out[0]; memory = [out[1]]"):
        cut, whole = (RECURRENT.format(kept=kept, taken=taken) for kept in ("h.detach()", "h * 1"))
        assert codes(analyse(cut, limits=SMALL)) == codes(analyse(cut)) == []
        assert codes(analyse(whole, limits=SMALL)) == codes(analyse(whole)) == ["TL102"]


MAKER = f"""\
import torch
class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = []
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        table = Table()
{WORK.replace("    ", "        ")}
        return self.first(x), table
def train(batches):
    net = Net()
    for _ in range(3):
        out, table = net(torch.ones(2, 3))
        out.sum().backward()
"""


def test_a_network_that_makes_others_keeps_its_parameters():
    assert codes(analyse(MAKER)) == []
    report = analyse(MAKER, limits=SMALL)
    assert report.notices[0].message == "`forward` (line 11) takes too long: its call was left out"
    assert codes(report) == []  # not that `out` has no graph


EVALUATED = f"""\
import torch
from torch import nn

def evaluate(net, x):
    for batch in x:
        net.eval()
        print(net(batch))
{WORK}

def train(data):
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(4):
        for x in data:
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
        with torch.no_grad():
            evaluate(net, data)
"""


def test_it_leaves_a_network_in_evaluation_mode_as_its_text_does():
    assert codes(analyse(EVALUATED)) == ["TL409"]
    report = analyse(EVALUATED, limits=SMALL)
    assert report.notices[0].message == "`evaluate` (line 4) takes too long: its call was left out"
    assert codes(report) == ["TL409"]


def test_it_leaves_no_mode_that_its_text_takes_back_or_does_not_always_set():
    for text in (
        EVALUATED.replace("\n\ndef train", "\n    net.train()\n\ndef train"),
        EVALUATED.replace("        net.eval()", "        if x is None:\n            net.eval()"),
        EVALUATED.replace("    for epoch in range(4):", "    for epoch in range(4):\n        net.train()"),
    ):
        assert text != EVALUATED
        assert codes(analyse(text, limits=SMALL)) == []


METHOD = (
    EVALUATED.replace(
        "def evaluate(net, x)", "class Runner:\n  def __init__(self, net): self.net = net\n  def evaluate(self, x)"
    )
    .replace("net.eval()", "self.net.eval()")
    .replace("print(net(batch))", "print(self.net(batch))")
    .replace("evaluate(net, data)", "Runner(net).evaluate(data)")
)


def test_so_does_a_method_with_an_attribute():
    assert codes(analyse(METHOD)) == ["TL409"]
    report = analyse(METHOD, limits=SMALL)
    assert [notice.message for notice in report.notices] == [
        "`evaluate` (line 6) takes too long: its call was left out"
    ]
    assert codes(report) == ["TL409"]
