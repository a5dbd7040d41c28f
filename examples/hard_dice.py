"""A segmentation network trained on the Dice score of its thresholded masks.

At the first backward PyTorch says:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

The score is computed from `probabilities > 0.5`. A comparison has no gradient, so the history ends there. Compute the loss
from the probabilities, and the hard score for the report only.
"""

import torch
from torch import nn


class TinyUNet(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(2)
        self.middle = nn.Sequential(nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(inplace=True))
        self.up = nn.ConvTranspose2d(2 * channels, channels, 2, stride=2)
        self.out = nn.Sequential(
            nn.Conv2d(2 * channels, channels, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(channels, 1, 1)
        )

    def forward(self, x):
        skip = self.down(x)
        x = self.up(self.middle(self.pool(skip)))
        return self.out(torch.cat([skip, x], dim=1))


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0, threshold=0.5):
        super().__init__()
        self.smooth, self.threshold = smooth, threshold

    def forward(self, logits, masks):
        probabilities = torch.sigmoid(logits)
        predicted = (probabilities > self.threshold).float()
        overlap = (predicted * masks).sum(dim=(1, 2, 3))
        area = predicted.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3))
        dice = (2 * overlap + self.smooth) / (area + self.smooth)
        return 1 - dice.mean()


def make_batch(batch=4, size=16):
    masks = torch.zeros(batch, 1, size, size)
    for i in range(batch):
        top, left = torch.randint(0, size // 2, (2,)).tolist()
        masks[i, 0, top : top + size // 2, left : left + size // 2] = 1
    images = masks + 0.3 * torch.randn(batch, 1, size, size)
    return images, masks


def pixel_accuracy(model, images, masks):
    model.eval()
    with torch.no_grad():
        predicted = torch.sigmoid(model(images)) > 0.5
    model.train()
    return (predicted == masks.bool()).float().mean().item()


def main():
    model, criterion = TinyUNet(), DiceLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(10):
        images, masks = make_batch()
        loss = criterion(model(images), masks)
        optimizer.zero_grad()
        loss.backward()  # error: [backward-without-graph] # torch: raises "does not require grad and does not have a grad_fn"
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step}: loss {loss.item():.3f}, accuracy {pixel_accuracy(model, images, masks):.3f}")


if __name__ == "__main__":
    main()
