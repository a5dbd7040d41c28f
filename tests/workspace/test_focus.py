"""What of a caller is tried out."""

from __future__ import annotations

import ast

from tapelint.analysis.elsewhere import unrelated

TEXT = """
from unet import UNet

def made(): return UNet()
def test_made(): made().eval()
def test_other(): other()
def other(): ...

class TestUNet(Base):
    def setUp(self): self.net = UNet()
    def test_it(self): self.made_here()
    def test_that(self): other()
    def made_here(self): return made()

class Deeper(UNet):
    def forward(self, x): return x

class Trainer:
    def __init__(self): self.net = UNet()
    def fit(self): ...

def test_trainer(): Trainer().fit()
"""


def test_functions_that_have_nothing_to_do_with_the_names() -> None:
    idle = {getattr(node, "name", "") for node in unrelated(ast.parse(TEXT), {"UNet"})}
    assert idle == {"test_other", "other", "test_that"}
