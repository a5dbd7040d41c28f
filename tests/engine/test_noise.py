"""A mistake is found whatever harmless statements stand around it, and a right program stays one.

Each mistake is a training step; each statement of ``NOISE`` is put at its place in the program, one at a time. What a
statement may really change (code that is not read and is given the optimizer, gradients that are clipped) is no noise.
"""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.severity import Severity

PROGRAM = """\
import csv, json, logging, os, sys, time
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm
from utils import AverageMeter, get_options
logger = logging.getLogger(__name__)
writer = SummaryWriter()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.first(x))))

def main(args, loader, held_out):
    net = Net().to(args.device)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(opt, 10)
    state = torch.zeros(1)
    <before>
    for epoch in range(args.epochs):
        net.train()
        running = 0.0
        <epoch>
        for i, (x, y) in enumerate(loader):
            <start>
            x, y = x.to(args.device), y.to(args.device)
            <step>
            running += loss.item()
            <end>
        <after>
        net.eval()
        with torch.no_grad():
            for x, y in held_out:
                print(net(x).argmax(1))
"""

MISTAKES = {
    # the gradients of all iterations add up
    "TL401": "out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|opt.step()",
    # no gradient is left for the step
    "TL402": "out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|opt.zero_grad()|opt.step()",
    # the step comes before there is a gradient
    "TL403": "out = net(x)|<out>|loss = criterion(out, y)|opt.zero_grad()|opt.step()|<loss>|loss.backward()",
    # PyTorch raises: a second time
    "TL101": "out = net(x)|<out>|loss = criterion(out, y)|opt.zero_grad()|loss.backward()|<loss>|loss.backward()",
    # PyTorch raises: a second time, in the second iteration
    "TL102": "out = net(x + state)|<out>|loss = criterion(out, y)|state = out.mean()|loss.backward()|<loss>|opt.step()",
    # PyTorch raises: modified by an inplace operation
    "TL201": "out = torch.sigmoid(net(x))|<out>|loss = criterion(out, y)|out += 1|<loss>|loss.backward()",
    # PyTorch raises: does not require grad
    "TL301": "out = net(x)|<out>|loss = criterion(out.detach(), y)|<loss>|loss.backward()|opt.step()",
    # what is clipped has been used
    "TL404": "out = net(x)|<out>|loss = criterion(out, y)|opt.zero_grad()|loss.backward()|<loss>|opt.step()|"
    "nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
    # the nodes of all iterations stay in memory
    "TL105": "out = net(x)|<out>|loss = criterion(out, y)|opt.zero_grad()|loss.backward()|<loss>|opt.step()|"
    "running += loss",
    # PyTorch raises: Can't call numpy()
    "TL306": "out = net(x)|<out>|loss = criterion(out, y)|<loss>|print(out.numpy())",
}
RIGHT = (
    "opt.zero_grad()|out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|opt.step()",
    "out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|opt.step()|opt.zero_grad()",
    "out = net(x)|<out>|loss = criterion(out, y) / 4|loss.backward()|<loss>|if (i + 1) % 4 == 0:|    opt.step()|"
    "    opt.zero_grad()",
    "now = get_options()|out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|if now:|    opt.step()|"
    "print(i)|if now:|    opt.zero_grad()",
    "net.zero_grad()|out = net(x)|<out>|loss = criterion(out, y)|loss.backward()|<loss>|opt.step()",
)
NOISE = """\
before: best = 0
before: print(sum(p.numel() for p in net.parameters()))
before: torch.manual_seed(0)
before: if args.resume:|    net.load_state_dict(torch.load(args.resume))
before: net.apply(get_options().init)
before: average = AverageMeter()
epoch: bar = tqdm(loader)
epoch: begun = time.time()
epoch: for group in opt.param_groups:|    group["lr"] = args.lr * 0.1 ** epoch
start: if x.size(0) < 2:|    continue
start: if i > args.most:|    break
start: assert not torch.isnan(x).any()
start: try:|    x = x.float()|except RuntimeError:|    continue
out: correct = (out.argmax(1) == y).sum().item()
out: if isinstance(out, tuple):|    out = out[0]
out: shown = F.softmax(out, dim=1).detach().cpu().numpy()
out: assert out.shape[0] == x.shape[0]
loss: if torch.isnan(loss):|    sys.exit(1)
loss: writer.add_scalar("loss", loss, i)
loss: torch.cuda.synchronize()
end: scheduler.step()
end: if i % 10 == 0:|    print(i, loss.item())
end: if i % args.every == 0:|    logger.info("loss %s", loss)
end: if i % 100 == 0:|    torch.save(net.state_dict(), "net.pth")
end: if i % 100 == 0:|    get_options().validate(net, held_out)
end: history = json.dumps({"loss": loss.item()})
end: csv.writer(open("losses.csv", "a")).writerow([i, loss])
end: tqdm(loader).set_postfix(loss=running)
after: scheduler.step()
after: logger.warning("epoch {}: {}".format(epoch, running))
after: if os.path.exists("old.pth"):|    os.remove("old.pth")
after: print("epoch", epoch, running / len(loader))
""".splitlines()


def program(step: str, place: str = "", noise: str = "pass") -> str:
    """The program with a training ``step``, and ``noise`` at a place of it."""
    lines = PROGRAM.replace("<step>", step).split("\n")
    found = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        for part in line.strip().split("|") if "|" in line or "<" in line else [line[len(indent) :]]:
            own = part.strip()
            inner = (noise if own == f"<{place}>" else "pass").split("|") if own.startswith("<") else [part]
            found += [indent + each for each in inner]
    return "\n".join(found)


def found_in(text: str) -> set[str]:
    compile(text, "main.py", "exec")
    report = analyse(text, "main.py")
    loud = (each for each in report.diagnostics if each.severity is not Severity.HINT)
    return {each.code for each in loud if not each.code.startswith("TL91")}


@pytest.mark.parametrize("code", MISTAKES)
def test_noise_hides_no_mistake(code: str) -> None:
    step = MISTAKES[code]
    assert code in found_in(program(step))
    hidden = [line for line in NOISE if code not in found_in(program(step, *line.split(": ", 1)))]
    assert not hidden


@pytest.mark.parametrize("step", RIGHT)
def test_noise_makes_no_mistake(step: str) -> None:
    told = {line: found for line in NOISE if (found := found_in(program(step, *line.split(": ", 1))))}
    assert not found_in(program(step)) and not told
