"""Networks from libraries are Modules with parameters; what their forward keeps is an assumption, and said to be one.

No literate block: PyTorch could run one only with these libraries installed, and one of them downloads weights.
"""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.ops.module_names import is_network
from tapelint.severity import Severity

TWICE = """import torch
{line}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.ones(2, 3))
{loss}.backward()
optimizer.step()
{loss}.backward()
"""


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("import torchvision\nnet = torchvision.models.resnet18(weights=None)", "out.sum()"),
        ("from torchvision import models\nnet = models.segmentation.fcn_resnet50()", "out.sum()"),
        ("import timm\nnet = timm.create_model('vit_base_patch16_224')", "out.sum()"),
        ("from transformers import AutoModelForCausalLM\nnet = AutoModelForCausalLM.from_pretrained('x')", "out.loss"),
        ("from transformers import BertModel\nnet = BertModel(config)", "out.last_hidden_state.sum()"),
        ("net = torch.hub.load('pytorch/vision', 'resnet18')", "out.sum()"),
    ],
)
def test_a_library_module_saves_under_an_assumption(line: str, loss: str) -> None:
    report = analyse(TWICE.format(line=line, loss=loss))
    (found,) = report.diagnostics
    assert (found.code, found.severity) == ("TL101", Severity.WARNING)
    assert "Assumes" in found.needs


@pytest.mark.parametrize(
    "name",
    [
        "transformers.AutoTokenizer.from_pretrained",
        "transformers.BertConfig.from_pretrained",
        "transformers.AutoProcessor.from_pretrained",
        "transformers.DataCollatorForLanguageModeling",
        "transformers.Trainer",
        "torchvision.models.get_model_weights",
        "torchvision.transforms.Compose",
        "timm.list_models",
    ],
)
def test_other_names_of_libraries_are_no_modules(name: str) -> None:
    assert not is_network(name)


DERIVED = """import torch
from torchvision.models.resnet import BasicBlock, ResNet
class Digits(ResNet):
    def __init__(self):
        super().__init__(BasicBlock, [2, 2, 2, 2], num_classes=10)
    def forward(self, x):
        return torch.softmax({base}.forward({given}), dim=1)
model = Digits()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.ones(2, 4, 3, 9, 9):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("base", "given"), [("super()", "x"), ("super(Digits, self)", "x"), ("ResNet", "self, x")])
def test_the_forward_of_a_base_class_has_its_parameters(base: str, given: str) -> None:
    clean = DERIVED.format(base=base, given=given)
    assert not analyse(clean).diagnostics
    (found,) = analyse(clean.replace("loss.backward()\n", "loss.backward()\n    loss.backward()\n")).diagnostics
    assert found.code == "TL101"
