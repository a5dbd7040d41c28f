"""Which classes and functions of libraries make networks, by their dotted names."""

from __future__ import annotations

import pytest

from tapelint.ops.module_names import is_layer, is_network


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transformers.BertModel", True),
        ("transformers.PreTrainedModel", True),
        ("transformers.models.bert.modeling_bert.BertEncoder", True),
        ("transformers.AdamW", False),
        ("transformers.Trainer", False),
        ("transformers.optimization.Adafactor", False),
        ("timm.models.layers.DropPath", True),
        ("timm.optim.AdamP", False),
        ("timm.scheduler.CosineLRScheduler", False),
        ("lightning.pytorch.LightningModule", True),
        ("lightning.Fabric", False),
        ("torchvision.models.resnet.Bottleneck", True),
    ],
)
def test_a_class_of_a_library_is_a_module(name: str, expected: bool) -> None:
    assert is_layer(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torchvision.models.resnet18", True),
        ("transformers.AutoModel.from_pretrained", True),
        ("transformers.AutoTokenizer.from_pretrained", False),
        ("transformers.AdamW", False),
    ],
)
def test_a_call_of_a_library_returns_a_network(name: str, expected: bool) -> None:
    assert is_network(name) is expected
