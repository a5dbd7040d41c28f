"""A residual network whose blocks add the shortcut in place, after the activation.

In the first backward PyTorch says:

    RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
    [torch.FloatTensor [8, 16, 4, 4]], which is output 0 of Relu, is at version 1; expected version 0 instead. ...

`relu` saved its result for its gradient, and `out += shortcut` wrote over it. The block in the stem does the same
write before its activation, and that one is fine: a batch norm keeps its input, not its result. Write
`out = out + shortcut`, or add before the activation.
"""

import torch
import torch.nn.functional as F
from torch import nn


class SafeBlock(nn.Module):
    """Adds in place before the activation: nothing saved the result of the batch norm."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = self.bn(self.conv(x))
        out += x
        return F.relu(out)


class Block(nn.Module):
    """Adds in place after the activation."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out += shortcut  # error: [saved-tensor-modified] "relu"
        return out


class SmallResNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), SafeBlock(8))
        self.layers = nn.ModuleList([Block(8, 8), Block(8, 16, stride=2)])
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(dim=(2, 3)))


def make_batches(count, batch_size=8, size=8, classes=4):
    for _ in range(count):
        labels = torch.randint(0, classes, (batch_size,))
        images = torch.randn(batch_size, 3, size, size) + labels.view(-1, 1, 1, 1)
        yield images, labels


def main():
    model = SmallResNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    correct = seen = 0
    for images, labels in make_batches(5):
        logits = model(images)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()  # torch: raises "modified by an inplace operation"
        optimizer.step()
        correct += (logits.argmax(dim=1) == labels).sum().item()
        seen += labels.numel()
    print(f"accuracy {correct / seen:.2f}")


if __name__ == "__main__":
    main()
