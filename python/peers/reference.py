"""The peers' side, in Python 3.10: data, policies, models, and what OBP, SCOPE-RL and Opacus make of them.

    python reference.py DIRECTORY

Arrays go to DIRECTORY/NAME.npz and numbers to DIRECTORY/peers.json.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from obp.dataset import OpenBanditDataset, SyntheticBanditDataset, logistic_reward_function
from obp.ope import DoublyRobust, InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting
from obp.policy import BernoulliTS
from obp.utils import softmax
from opacus.accountants import PRVAccountant, RDPAccountant


def scope_rl_estimators() -> types.ModuleType:
    """Load SCOPE-RL's estimators of discrete actions, without the rest of it, which needs torch 2.

    What they import of d3rlpy is a name in annotations of continuous actions.
    """
    stand_in = types.ModuleType("d3rlpy.preprocessing")
    stand_in.ActionScaler = type("ActionScaler", (), {})
    sys.modules.update({"d3rlpy": types.ModuleType("d3rlpy"), "d3rlpy.preprocessing": stand_in})
    root = Path(find_spec("scope_rl").submodule_search_locations[0])
    for name in ("scope_rl", "scope_rl.ope", "scope_rl.ope.discrete"):
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    return importlib.import_module("scope_rl.ope.discrete.basic_estimators")


def shrunken_means(action: np.ndarray, reward: np.ndarray, actions: int, prior: float = 100) -> np.ndarray:
    """Give each action's mean reward, drawn to the overall mean by so many rows: the model of the method dr."""
    count, total = np.bincount(action, minlength=actions), np.bincount(action, reward, minlength=actions)
    return (total + prior * reward.mean()) / (count + prior)


def bandit(place: Path, name: str, feedback: dict, target: np.ndarray) -> dict:
    """Estimate with OBP; target is the probability of each action in each round."""
    rounds, actions = target.shape
    action, reward = feedback["action"], feedback["reward"].astype(float)
    model = np.tile(shrunken_means(action, reward, actions), (rounds, 1))
    given = {
        "reward": reward,
        "action": action,
        "pscore": feedback["pscore"],
        "action_dist": target[:, :, None],
        "position": np.zeros(rounds, dtype=int),
    }
    np.savez(
        place / f"{name}.npz", target=target, **{k: feedback[k] for k in ("action", "reward", "pscore", "context")}
    )
    return {
        "is": InverseProbabilityWeighting().estimate_policy_value(**given),
        "wis": SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**given),
        "dr": DoublyRobust().estimate_policy_value(**given, estimated_rewards_by_reg_model=model[:, :, None]),
    }


def sequences(place: Path, gamma: float) -> dict:
    """Play a small chain of decisions in the layout of SCOPE-RL, and estimate with its estimators."""
    draw = np.random.default_rng(7)
    count, steps, states, actions = 500, 6, 5, 3
    move = draw.dirichlet(np.ones(states), (states, actions))
    behaviour, target = draw.dirichlet(3 * np.ones(actions), states), draw.dirichlet(3 * np.ones(actions), states)
    state, action = np.zeros((count, steps), int), np.zeros((count, steps), int)
    reward = np.zeros((count, steps))
    at = draw.integers(0, states, count)
    for t in range(steps):
        state[:, t] = at
        action[:, t] = [draw.choice(actions, p=behaviour[s]) for s in at]
        reward[:, t] = (draw.random(count) + (at == action[:, t])) / 2
        at = np.array([draw.choice(states, p=move[s, a]) for s, a in zip(at, action[:, t])])
    ratio = (target / behaviour)[state, action]
    # The value function of the method dr: least squares of temporal differences, each transition weighted by its ratio.
    matrix, vector = np.zeros((states, states)), np.zeros(states)
    for t in range(steps):
        for s in range(states):
            here = state[:, t] == s
            matrix[s, s] += ratio[here, t].sum()
            vector[s] += (ratio[here, t] * reward[here, t]).sum()
            if t + 1 < steps:
                np.add.at(matrix[s], state[here, t + 1], -gamma * ratio[here, t])
    value = np.linalg.solve(matrix, vector)
    flat = state.reshape(-1)
    pscore = behaviour[flat, action.reshape(-1)]
    done = np.tile(np.arange(steps) == steps - 1, count)
    np.savez(
        place / "sequences.npz", n_trajectories=count, step_per_trajectory=steps, state=flat[:, None].astype(float),
        action=action.reshape(-1), reward=reward.reshape(-1), done=done, pscore=pscore, target=target, gamma=gamma,
    )  # fmt: skip
    given = {
        "step_per_trajectory": steps,
        "action": action.reshape(-1),
        "reward": reward.reshape(-1),
        "pscore": pscore,
        "evaluation_policy_action_dist": target[flat],
        "gamma": gamma,
    }
    scope = scope_rl_estimators()
    model = np.repeat(value[flat][:, None], actions, axis=1)
    return {
        "is": scope.TrajectoryWiseImportanceSampling().estimate_policy_value(**given),
        "pdis": scope.PerDecisionImportanceSampling().estimate_policy_value(**given),
        "wis": scope.SelfNormalizedTIS().estimate_policy_value(**given),
        "dr": scope.DoublyRobust().estimate_policy_value(**given, state_action_value_prediction=model),
    }


def opacus(sigma: float, rate: float, steps: int, delta: float) -> dict:
    """Account for DP-SGD with Opacus."""
    out = {}
    for name, kind in (("rdp", RDPAccountant), ("prv", PRVAccountant)):
        accountant = kind()
        accountant.history = [(sigma, rate, steps)]
        out[name] = float(accountant.get_epsilon(delta=delta))
    return out


def main() -> None:
    """Write everything."""
    place = Path(sys.argv[1])
    made = SyntheticBanditDataset(
        n_actions=10, dim_context=5, reward_function=logistic_reward_function, random_state=12345
    )
    feedback = made.obtain_batch_bandit_feedback(n_rounds=10_000)
    feedback["position"] = None
    found = {"obp_synthetic": bandit(place, "obp_synthetic", feedback, softmax(8 * feedback["expected_reward"]))}
    # The part of the Open Bandit Dataset that the package carries: real clicks, the first of three positions.
    opened = OpenBanditDataset(behavior_policy="random", campaign="all")
    feedback = opened.obtain_batch_bandit_feedback()
    first = feedback["position"] == 0
    feedback = {k: feedback[k][first] for k in ("action", "reward", "pscore", "context")}
    thompson = BernoulliTS(
        n_actions=opened.n_actions, len_list=opened.len_list, is_zozotown_prior=True, campaign="all", random_state=1
    )
    target = thompson.compute_batch_action_dist(n_sim=20_000, n_rounds=1)[0, :, 0]
    found["obp_open_bandit"] = bandit(place, "obp_open_bandit", feedback, np.tile(target, (int(first.sum()), 1)))
    found["scope_rl"] = sequences(place, gamma=0.9)
    found["opacus"] = [
        {"sigma": s, "rate": q, "steps": n, "delta": 1e-5, **opacus(s, q, n, 1e-5)}
        for s, q, n in ((1.1, 0.01, 1000), (0.8, 0.004, 5000), (2.0, 0.05, 300))
    ]
    found["versions"] = {n: version(n) for n in ("obp", "scope-rl", "opacus", "torch", "numpy")}
    (place / "peers.json").write_text(json.dumps(found, indent=1, default=float))


if __name__ == "__main__":
    main()
