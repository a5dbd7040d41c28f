"""Which files of a workspace are worth checking while they are closed: told by syntax, and by no name of a variable."""

from __future__ import annotations

import pytest

from tapelint.workspace.training_files import trains

TRAINS = {
    "a backward": "import torch\ndef f(a):\n    a.backward()\n",
    "of any object": "from torch import nn\ndef f(q, z):\n    q.w.e().backward(z, retain_graph=True)\n",
    "accelerate": "from accelerate import Accelerator\nimport torch\na = Accelerator()\na.backward(torch.ones(1))\n",
    "autograd.backward": "import torch\ndef f(a):\n    torch.autograd.backward([a])\n",
    "autograd.grad": "from torch import autograd as ag\ndef f(a, b):\n    return ag.grad(a, b)\n",
    "grad by name": "from torch.autograd import grad as g\ndef f(a, b):\n    return g(a, b)\n",
    "a step": "import torch\ndef f(a):\n    a.step()\n",
    "Lightning's module": "import lightning as L\nclass A(L.LightningModule):\n    pass\n",
    "Lightning's trainer": "from pytorch_lightning import Trainer as T\nT(max_epochs=1).fit(None)\n",
    "transformers": "from transformers import Trainer\nimport torch\nclass A(Trainer):\n    pass\n",
    "a trainer that is told": "import torch\nfrom composer import Trainer\nTrainer().fit()\n",
    "all of fastai": "import torch\nfrom fastai.vision.all import *\nlearn = vision_learner()\nlearn.fine_tune(1)\n",
    "imported in a function": "import torch\ndef f():\n    from composer import Trainer\n    Trainer().fit()\n",
    "a step with names": "import torch\ndef f(a, b):\n    a.step(closure=b)\n",
    "a step over lines": "import torch\ndef f(a):\n    a.b.\\\n        step(\n    )\n",
    "a module of a framework": "import torch\nimport transformers as t\nt.Trainer(None).train()\n",
    "a part of a framework": "import torch\nfrom ignite.engine import Engine\nEngine(print).run([])\n",
    "no torch in sight": "def fit(net, x):\n    net(x).sum().backward()\n",
    "broken": "import torch\ndef f(a):\n    a.backward()\n    a.(\n",
}
DOES_NOT = {
    "a network": "import torch\nclass A(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n",
    "named as if": "import torch\nbackward = step = optimizer = Trainer = loss = 1\n",
    "a backward of its own": (
        "import torch\nclass A(torch.autograd.Function):\n    @staticmethod\n"
        "    def backward(ctx, grad):\n        return grad\n"
    ),
    "an environment": "import torch\ndef f(env, action):\n    return env.step(action)\n",
    "a class of that name": "import torch\nclass Trainer:\n    pass\nTrainer()\n",
    "of another library": "import torch\nfrom chess import Trainer\nTrainer()\n",
    "a tokenizer": "import torch\nfrom transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('a')\n",
    "another library": "import tensorflow as tf\ndef f(a):\n    a.backward()\n",
    "words": "import torch\n'''loss.backward() and optimizer.step()'''\n# loss.backward()\n",
    "broken": "import torch\ndef f(a):\n    a.forward()\n    a.(\n",
}


@pytest.mark.parametrize("text", TRAINS.values(), ids=[*TRAINS])
def test_it_trains(text: str) -> None:
    assert trains(text)


@pytest.mark.parametrize("text", DOES_NOT.values(), ids=[*DOES_NOT])
def test_it_does_not(text: str) -> None:
    assert not trains(text)
