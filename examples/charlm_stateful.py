"""A character model trained on consecutive chunks of one text, its LSTM state remembered between them.

The first chunk trains. On the second, PyTorch says:

    RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they
    have already been freed). ...

`loss.backward()` is called once per chunk, so "a second time" points nowhere. The state kept on the model is what ties
the chunks together: it still has the history of the chunk before. Detach it where it is kept.
"""

import torch
import torch.nn.functional as F
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog. " * 40


class Vocabulary:
    def __init__(self, text):
        self.letters = sorted(set(text))
        self.index = {letter: i for i, letter in enumerate(self.letters)}

    def __len__(self):
        return len(self.letters)

    def encode(self, text):
        return torch.tensor([self.index[letter] for letter in text])

    def decode(self, ids):
        return "".join(self.letters[i] for i in ids)


class CharModel(nn.Module):
    def __init__(self, vocabulary_size, embedding=16, hidden=32, layers=1):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding)
        self.lstm = nn.LSTM(embedding, hidden, layers, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.decoder = nn.Linear(hidden, vocabulary_size)
        self.layers, self.hidden = layers, hidden
        self.state = None

    def reset(self, batch_size):
        zeros = torch.zeros(self.layers, batch_size, self.hidden)
        self.state = (zeros, zeros.clone())

    def forward(self, tokens):
        out, self.state = self.lstm(self.embedding(tokens), self.state)
        return self.decoder(self.dropout(out))


def batchify(ids, batch_size):
    length = len(ids) // batch_size
    return ids[: length * batch_size].view(batch_size, length)


def chunks(data, length):
    for start in range(0, data.size(1) - 1, length):
        end = min(start + length, data.size(1) - 1)
        yield data[:, start:end], data[:, start + 1 : end + 1]


def train_epoch(model, optimizer, data, chunk_length=25):
    model.train()
    model.reset(data.size(0))
    total, count = 0.0, 0
    for inputs, targets in chunks(data, chunk_length):
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()  # error: [graph-carried-across-iterations] "state" # torch: raises "backward through the graph a second time"
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * targets.numel()
        count += targets.numel()
    return total / count


@torch.no_grad()
def sample(model, vocabulary, start="t", length=20):
    model.eval()
    model.reset(1)
    ids = vocabulary.encode(start).tolist()
    for _ in range(length):
        logits = model(torch.tensor([[ids[-1]]]))
        ids.append(torch.distributions.Categorical(logits=logits[0, -1]).sample().item())
    return vocabulary.decode(ids)


def main():
    vocabulary = Vocabulary(TEXT)
    data = batchify(vocabulary.encode(TEXT), batch_size=8)
    model = CharModel(len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        loss = train_epoch(model, optimizer, data)
        print(f"epoch {epoch}: loss {loss:.3f}, sample {sample(model, vocabulary)!r}")


if __name__ == "__main__":
    main()
