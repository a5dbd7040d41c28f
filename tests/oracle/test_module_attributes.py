"""What every module has is what PyTorch says."""

import torch

from tapelint.models.python.known_attributes import OF_MODULES

OF_OTHER_VERSIONS = {"T_destination", "ipu", "mtia", "set_submodule"}


def test_the_attributes_of_modules_are_those_of_pytorch():
    there = {name for name in dir(torch.nn.Module()) if not hasattr(object, name) and not name.startswith("__")}
    assert there <= OF_MODULES
    assert OF_MODULES - there <= OF_OTHER_VERSIONS
