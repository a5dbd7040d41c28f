"""The steps of a story that no message repeats."""

from __future__ import annotations

from tapelint.analysis import analyse

COPIED = """
import numpy as np
import torch
logits = torch.ones(3, requires_grad=True)
out = torch.sigmoid(logits)
out[out > 0.5] = 1
print(np.array(out[0]))
"""


def test_a_tensor_that_is_copied_out_got_its_graph_where_it_was_computed() -> None:
    found = analyse(COPIED, "train.py").diagnostics[0]
    assert found.code == "TL306"
    assert [(step.span.row, step.message) for step in found.related] == [
        (5, "`torch.sigmoid(logits)` gives `out` its `grad_fn`")
    ]


def test_a_conversion_in_the_expression_that_computes_has_no_such_step() -> None:
    text = COPIED.replace("print(np.array(out[0]))", "print((logits * 2).numpy())")
    assert analyse(text, "train.py").diagnostics[0].related == ()


RETURNED = """
import torch
class Attack:
    def __init__(self, model):
        self.model = model
    def __call__(self, image):
        return self.forward(image)
    def forward(self, image):
        image.requires_grad = True
        score = self.model(image).sum()
        score.backward()
        return image
attack = Attack(torch.nn.Linear(3, 1))
moved = 2 * attack(torch.ones(2, 3))
moved.requires_grad = True
"""


def test_what_a_call_returned_with_a_graph_was_made_a_leaf_and_returned_there() -> None:
    found = analyse(RETURNED, "attack.py").diagnostics[0]
    assert found.code == "TL309"
    assert [(step.span.row, step.message) for step in found.related] == [
        (9, "A tensor is made to require grad here"),
        (12, "What requires grad is returned here"),
        (14, "This computes `moved`"),
    ]


ANEW = """
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net = torch.nn.Linear(3, 1)
for x in torch.ones(3, 1, 3):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
"""


def test_a_network_that_was_made_anew_is_told_with_the_one_that_the_optimizer_holds() -> None:
    found = next(each for each in analyse(ANEW, "train.py").diagnostics if each.code == "TL320")
    assert [(step.span.row, step.message) for step in found.related][:2] == [
        (4, "The optimizer is given its parameters"),
        (8, "`net(x).sum().backward()` computes gradients for `net.weight` and `net.bias`"),
    ]


SCALED = """
import torch
from apex import amp
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
net, opt = amp.initialize(net, opt)
loss = net(torch.ones(2, 3)).mean()
with amp.scale_loss(loss, opt) as scaled:
    scaled.backward()
    scaled.backward()
"""


def test_no_step_stands_in_what_is_executed_in_place_of_a_library() -> None:
    found = analyse(SCALED, "train.py", resolve=lambda *_: None).diagnostics[0]
    assert found.code == "TL101"
    assert [(step.filename, step.span.row) for step in found.related] == [("train.py", 8), ("train.py", 9)]
