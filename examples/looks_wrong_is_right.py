"""A recurrent actor-critic full of things that look like bugs. PyTorch runs it to the end, and every gradient is right.

The state lives on the agent (detached where a segment begins); losses are kept in lists (and cleared after their
backward); activations are written in place (after operations that kept nothing of them); two backwards go through one
trunk (the first keeps the graph, and nothing is stepped before the second); parameters are updated in place under
`no_grad` (of a network that no pending loss has seen).
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Core(nn.Module):
    def __init__(self, inputs=4, hidden=16, actions=3):
        super().__init__()
        self.embed = nn.Linear(inputs, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.policy = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x, h):
        e = self.embed(x)
        e += 0.1
        e = F.relu(e, inplace=True)
        h = self.cell(e, h)
        logits = self.policy(h)
        logits -= logits.mean(dim=-1, keepdim=True)
        return logits, self.value(h).squeeze(-1), h


class Agent:
    def __init__(self, batch=8, hidden=16):
        self.core = Core(hidden=hidden)
        self.slow = copy.deepcopy(self.core).requires_grad_(False)
        self.optimizer = torch.optim.RMSprop(self.core.parameters(), lr=1e-3)
        self.h = torch.zeros(batch, hidden)
        self.log_probs, self.values, self.rewards = [], [], []
        self.curve = []

    def act(self, x):
        logits, value, self.h = self.core(x, self.h)
        dist = torch.distributions.Categorical(logits=logits)
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        self.values.append(value)
        return action

    def returns(self, last, gamma=0.9):
        out = torch.zeros(len(self.rewards), *last.shape)
        running = last
        for t in reversed(range(len(self.rewards))):
            running = self.rewards[t] + gamma * running
            out[t] = running
        return out

    def learn(self, x):
        with torch.no_grad():
            _, last, _ = self.slow(x, self.h)
            goals = self.returns(last)
        values = torch.stack(self.values)
        advantage = goals - values.detach()
        policy_loss = -(torch.stack(self.log_probs) * advantage).mean()
        value_loss = F.mse_loss(values, goals)

        self.optimizer.zero_grad()
        policy_loss.backward(retain_graph=True)
        value_loss.backward()
        nn.utils.clip_grad_norm_(self.core.parameters(), 1.0)
        self.optimizer.step()

        with torch.no_grad():
            for slow, fast in zip(self.slow.parameters(), self.core.parameters()):
                slow.mul_(0.95).add_(fast, alpha=0.05)
        self.curve.append((policy_loss + value_loss).detach())
        self.h = self.h.detach()
        self.log_probs.clear()
        self.values.clear()
        self.rewards.clear()


def main(steps=40, segment=5):
    agent = Agent()
    x = torch.randn(8, 4)
    for step in range(steps):
        action = agent.act(x)
        reward = (action == x[:, :3].argmax(dim=1)).float()
        agent.rewards.append(reward)
        x = 0.9 * x + 0.1 * torch.randn_like(x)
        x[:, 3] = action.float()
        if (step + 1) % segment == 0:
            agent.learn(x)
    print(torch.stack(agent.curve).mean().item())  # torch: ok


if __name__ == "__main__":
    main()
