"""A soft actor-critic update: the critics are stepped while the actor's loss still waits for its backward.

In the first update PyTorch says:

    RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
    [torch.FloatTensor [32, 1]], which is output 0 of AsStrided, is at version 2; expected version 1 instead. ...

Nobody wrote in place by hand. The optimizer did: `critic_optimizer.step()` updates the critic's weights, which the actor's
loss saved when it went through the critic. Compute the actor's loss after the critic's step, or step after both backwards.
"""

import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


def mlp(inputs, outputs, hidden=32):
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class Replay:
    def __init__(self, size):
        self.memory = deque(maxlen=size)

    def push(self, *transition):
        self.memory.append(transition)

    def sample(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        return tuple(torch.stack(column) for column in zip(*batch))


class Agent:
    def __init__(self, states=3, actions=2, alpha=0.2, gamma=0.99, tau=0.01):
        self.actor = mlp(states, 2 * actions)
        self.critic = mlp(states + actions, 1)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.alpha, self.gamma, self.tau = alpha, gamma, tau

    def act(self, state):
        mean, log_std = self.actor(state).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return action, log_prob

    def q(self, critic, state, action):
        return critic(torch.cat([state, action], dim=-1))

    def update(self, state, action, reward, following):
        with torch.no_grad():
            next_action, next_log_prob = self.act(following)
            goal = reward + self.gamma * (self.q(self.target, following, next_action) - self.alpha * next_log_prob)
        critic_loss = F.mse_loss(self.q(self.critic, state, action), goal)

        new_action, log_prob = self.act(state)
        actor_loss = (self.alpha * log_prob - self.q(self.critic, state, new_action)).mean()

        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()  # error: [parameter-updated-before-backward] "critic"

        self.actor_optimizer.zero_grad()
        actor_loss.backward()  # torch: raises "modified by an inplace operation"
        self.actor_optimizer.step()

        with torch.no_grad():
            for kept, current in zip(self.target.parameters(), self.critic.parameters()):
                kept.lerp_(current, self.tau)
        return critic_loss.item(), actor_loss.item()


def main():
    agent, replay = Agent(), Replay(500)
    for _ in range(64):
        state = torch.randn(3)
        with torch.no_grad():
            action, _ = agent.act(state)
        following = state + 0.1 * torch.randn(3)
        replay.push(state, action, -following.pow(2).sum(0, keepdim=True), following)
    for step in range(5):
        critic_loss, actor_loss = agent.update(*replay.sample(16))
        print(f"step {step}: critic {critic_loss:.3f}, actor {actor_loss:.3f}")


if __name__ == "__main__":
    main()
