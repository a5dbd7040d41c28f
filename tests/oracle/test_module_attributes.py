"""What every module has is what PyTorch says, or what another version of it says."""

import torch

from tapelint.ops.torch_attributes import MODULE, OF_PYTHON, of_objects

OF_OTHER_VERSIONS = {"T_destination", "ipu", "mtia", "set_submodule"}


def test_the_attributes_of_modules_are_those_of_pytorch():
    there = {name for name in dir(torch.nn.Module()) if not hasattr(object, name) and not name.startswith("__")}
    known = {name for name in of_objects(MODULE) - OF_PYTHON if not name.startswith("__")}
    assert there <= known
    assert known - there <= OF_OTHER_VERSIONS
