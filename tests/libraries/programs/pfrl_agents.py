"""pfrl: agents that learn from a small chain of rooms: DQN, double DQN with priorities, PPO, A2C and REINFORCE."""

import random

import numpy as np
import pfrl
import torch
from pfrl import agents, explorers, replay_buffers
from torch import nn


class Rooms:
    """Six rooms in a row; a reward lies in the last one."""

    def reset(self):
        self.room, self.steps = 0, 0
        return self.seen()

    def step(self, action):
        self.steps += 1
        self.room = min(5, max(0, self.room + (1 if action else -1)))
        return self.seen(), float(self.room == 5), self.room == 5, {}

    def seen(self):
        return np.eye(6, dtype=np.float32)[self.room]


def values():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2), pfrl.q_functions.DiscreteActionValueHead())


def policy():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2), pfrl.policies.SoftmaxCategoricalHead())


def with_value():
    return pfrl.nn.Branched(policy(), nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)))


def q_learner(kind, buffer):
    model = values()
    explorer = explorers.ConstantEpsilonGreedy(0.3, lambda: random.randrange(2))
    return kind(
        model, torch.optim.Adam(model.parameters(), lr=0.01), buffer, 0.9, explorer, replay_start_size=20,
        minibatch_size=16, target_update_interval=20,
    )  # fmt: skip


def made(name):
    if name == "DQN":
        return q_learner(agents.DQN, replay_buffers.ReplayBuffer(200))
    if name == "DoubleDQN":
        return q_learner(agents.DoubleDQN, replay_buffers.PrioritizedReplayBuffer(200, betasteps=50))
    model = policy() if name == "REINFORCE" else with_value()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if name == "PPO":
        return agents.PPO(model, optimizer, update_interval=40, minibatch_size=20, epochs=3)
    if name == "A2C":
        return agents.A2C(model, optimizer, 0.9, num_processes=1, update_steps=5)
    return agents.REINFORCE(model, optimizer, batchsize=2)


for name in ("DQN", "DoubleDQN", "PPO", "A2C", "REINFORCE"):
    pfrl.utils.set_random_seed(3)
    agent, rooms, walked = made(name), Rooms(), []
    for _ in range(12):
        seen, done = rooms.reset(), False
        while not done and rooms.steps < 20:
            action = agent.batch_act([seen])[0] if name == "A2C" else agent.act(seen)
            seen, reward, done, _ = rooms.step(action)
            if name == "A2C":
                agent.batch_observe([seen], [reward], [done], [rooms.steps == 20])
            else:
                agent.observe(seen, reward, done, rooms.steps == 20)
        walked.append(rooms.steps)
    print(name, walked)
    print([(key, round(float(value), 4)) for key, value in agent.get_statistics()])
