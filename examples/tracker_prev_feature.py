"""A tracker trained on short clips: every later frame is compared with the feature of the clip's first frame.

The second frame of the first clip trains. On the third, PyTorch says:

    RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they
    have already been freed). ...

`self.prev_ft` is computed in another method, once per clip and outside the inner loop. The first `backward()` of the inner
loop frees its graph, and nothing builds it again before the second. If no gradient is wanted through the first frame,
compute its feature under `torch.no_grad()`; if it is, compute it inside the inner loop.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, channels=8, size=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels * 2, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(channels * 2)
        self.fc = nn.Linear(channels * 2, size)

    def forward(self, image):
        x = F.relu(self.bn1(self.conv1(image)))
        x = F.relu(self.bn2(self.conv2(x)))
        return F.normalize(self.fc(x.mean(dim=(2, 3))), dim=1)


class Trainer:
    def __init__(self, encoder, lr=1e-3):
        self.encoder = encoder
        self.predictor = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
        parameters = [*self.encoder.parameters(), *self.predictor.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=lr)
        self.prev_ft = None
        self.history = []

    def start_clip(self, frame):
        self.prev_ft = self.encoder(frame)

    def frame_loss(self, frame):
        ft = self.predictor(self.encoder(frame))
        return 1 - F.cosine_similarity(ft, self.prev_ft).mean()

    def train_epoch(self, clips):
        for clip in clips:
            self.start_clip(clip[0])
            for frame in clip[1:]:
                loss = self.frame_loss(frame)
                self.optimizer.zero_grad()
                loss.backward()  # error: [graph-built-outside-loop] "prev_ft" # torch: raises "backward through the graph a second time"
                self.optimizer.step()
                self.history.append(loss.item())

    def report(self):
        if self.history:
            print(f"{len(self.history)} steps, mean loss {sum(self.history) / len(self.history):.3f}")


def make_clips(count, frames=4, batch=4, size=16):
    clips = []
    for _ in range(count):
        scene = torch.rand(batch, 3, size, size)
        clips.append([scene + 0.1 * torch.randn_like(scene) for _ in range(frames)])
    return clips


def main():
    trainer = Trainer(Encoder())
    for _ in range(2):
        trainer.train_epoch(make_clips(count=3))
        trainer.report()


if __name__ == "__main__":
    main()
