"""stable_baselines3, gymnasium: PPO, A2C, DQN and SAC for some hundreds of steps, callbacks, files and evaluation."""

import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecNormalize

set_random_seed(0)


class Counting(BaseCallback):
    def __init__(self):
        super().__init__()
        self.rollouts = 0

    def _on_rollout_end(self):
        self.rollouts += 1

    def _on_step(self):
        return True


def report(name, model, environment):
    logged = model.logger.name_to_value
    print(name, model.num_timesteps, *(f"{key} {logged[key]:.3f}" for key in sorted(logged) if "loss" in key))
    parameters = torch.cat([p.detach().flatten() for p in model.policy.parameters()])
    print(name, parameters.numel(), f"{parameters.abs().mean().item():.4f}")
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.zip")
        again = type(model).load(Path(folder) / "model.zip", env=environment)
    observations = np.stack([environment.observation_space.sample().clip(-1, 1) for _ in range(4)])
    actions, _ = model.predict(observations, deterministic=True)
    same = again.predict(observations, deterministic=True)[0] == actions
    print(name, actions.round(3).tolist(), bool(same.all()))
    mean, spread = evaluate_policy(again, environment, n_eval_episodes=2)
    print(name, f"{mean:.2f} {spread:.2f}")


cart = make_vec_env("CartPole-v1", n_envs=2, seed=0)
cart.observation_space.seed(0)
counting = Counting()
model = PPO("MlpPolicy", cart, n_steps=64, batch_size=32, n_epochs=2, seed=0, policy_kwargs={"net_arch": [16, 16]})
model.learn(256, callback=counting)
print("rollouts", counting.rollouts)
report("PPO", model, cart)
model = A2C("MlpPolicy", cart, seed=0, use_rms_prop=True, ent_coef=0.01, policy_kwargs={"net_arch": [16]})
report("A2C", model.learn(100), cart)
single = gym.make("CartPole-v1")
single.observation_space.seed(0)
model = DQN("MlpPolicy", single, seed=0, learning_starts=50, buffer_size=500, target_update_interval=50, batch_size=16,
            policy_kwargs={"net_arch": [16]})  # fmt: skip
report("DQN", model.learn(200), single)
pendulum = gym.make("Pendulum-v1")
pendulum.observation_space.seed(0)
small = {"net_arch": [16, 16]}
model = SAC(
    "MlpPolicy", pendulum, seed=0, learning_starts=50, batch_size=16, buffer_size=500, policy_kwargs=dict(small)
)
report("SAC", model.learn(150), pendulum)
noise = NormalActionNoise(np.zeros(1), 0.1 * np.ones(1))
model = TD3("MlpPolicy", pendulum, seed=0, learning_starts=50, batch_size=16, action_noise=noise, buffer_size=500,
            policy_kwargs=dict(small))  # fmt: skip
report("TD3", model.learn(120), pendulum)
normalized = VecNormalize(make_vec_env("Pendulum-v1", n_envs=2, seed=1), norm_obs=True, norm_reward=True)
normalized.observation_space.seed(0)
model = PPO(
    "MlpPolicy", normalized, n_steps=32, batch_size=32, n_epochs=2, seed=1, use_sde=True, policy_kwargs=dict(small)
)
report("gSDE", model.learn(128), normalized)
