"""REINFORCE with a learned baseline left out: walk to the treasure in a small grid."""

import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


class GridWorld:
    """Four rows and columns; from the top left to the bottom right, a step costs 0.1, the treasure pays 1."""

    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))

    def reset(self):
        self.place, self.steps = (0, 0), 0
        return self.observe()

    def observe(self):
        seen = np.zeros((4, 4), dtype=np.float32)
        seen[self.place] = 1
        return seen.ravel()

    def step(self, action):
        self.place = tuple(int(np.clip(p + d, 0, 3)) for p, d in zip(self.place, self.moves[action], strict=True))
        self.steps += 1
        found = self.place == (3, 3)
        return self.observe(), 1.0 if found else -0.1, found or self.steps >= 30


def mlp(sizes, activation=nn.Tanh, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


def reward_to_go(rews):
    n = len(rews)
    rtgs = np.zeros_like(rews)
    for i in reversed(range(n)):
        rtgs[i] = rews[i] + (rtgs[i + 1] if i + 1 < n else 0)
    return rtgs


def train(hidden_sizes=(32,), lr=1e-2, epochs=20, batch_size=300, seed=0):
    torch.manual_seed(seed)
    env = GridWorld()
    logits_net = mlp([16, *hidden_sizes, 4])
    optimizer = optim.Adam(logits_net.parameters(), lr=lr)

    def get_policy(obs):
        return Categorical(logits=logits_net(obs))

    def get_action(obs):
        return get_policy(obs).sample().item()

    def compute_loss(obs, act, weights):
        logp = get_policy(obs).log_prob(act)
        return -(logp * weights).mean()

    recent = deque(maxlen=50)
    for epoch in range(epochs):
        batch_obs, batch_acts, batch_weights, batch_lens, ep_rews = [], [], [], [], []
        obs = env.reset()
        while True:
            batch_obs.append(obs.copy())
            act = get_action(torch.as_tensor(obs, dtype=torch.float32))
            obs, rew, done = env.step(act)
            batch_acts.append(act)
            ep_rews.append(rew)
            if done:
                recent.append(sum(ep_rews))
                batch_lens.append(len(ep_rews))
                batch_weights += list(reward_to_go(ep_rews))
                obs, ep_rews = env.reset(), []
                if len(batch_obs) > batch_size:
                    break
        optimizer.zero_grad()
        batch_loss = compute_loss(
            obs=torch.as_tensor(np.array(batch_obs), dtype=torch.float32),
            act=torch.as_tensor(batch_acts, dtype=torch.int32),
            weights=torch.as_tensor(batch_weights, dtype=torch.float32),
        )
        batch_loss.backward()
        optimizer.step()
        print(
            f"epoch: {epoch:3d} \t loss: {batch_loss:.5f} \t return: {np.mean(recent):.3f} \t "
            f"ep_len: {np.mean(batch_lens):.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    print("\nUsing simplest formulation of policy gradient.\n")
    train(lr=args.lr, epochs=args.epochs)
