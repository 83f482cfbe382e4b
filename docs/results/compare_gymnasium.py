"""Steps per second of the simulators, beside Gymnasium and scipy, in one run on one core.

    pip install gymnasium scipy
    python docs/results/compare_gymnasium.py          (from the root of the module; needs go)

Mountain Car and Cart Pole: one environment, uniform actions, a reset when an episode ends.
"bare" is the class without wrappers, actions from a list; "made" is gymnasium.make and
action_space.sample(), as a user would write it. "vector" is Gymnasium's own vectorised Cart Pole, which
steps so many environments at a time in numpy (Mountain Car has none). Ours: BenchmarkStep is bare in the same sense,
BenchmarkRollout chooses actions by a policy and records everything, with one worker.
HIV: the same right-hand side, steps of five days, uniform actions, relative tolerance 1e-8 and absolute
tolerance 1e-14 on both sides. Ours is Dormand-Prince, as scipy's RK45; DOP853 and LSODA (compiled code
that calls the right-hand side in Python) are listed for whoever prefers them.
"""

import os
import random
import re
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"

import gymnasium
import numpy
import scipy
from gymnasium.envs.classic_control import CartPoleEnv, MountainCarEnv
from scipy.integrate import odeint, solve_ivp

SECONDS = 3.0


def rate(step, batch):
    """Calls step() in batches for SECONDS and gives calls per second."""
    step()
    n, start = 0, time.perf_counter()
    while True:
        for _ in range(batch):
            step()
        n += batch
        elapsed = time.perf_counter() - start
        if elapsed > SECONDS:
            return n / elapsed


def bare(env, actions, limit):
    env.reset(seed=1)
    choices = [random.randrange(actions) for _ in range(4096)]
    state = {"i": 0, "t": 0}

    def step():
        state["i"] = (state["i"] + 1) % 4096
        state["t"] += 1
        terminated = env.step(choices[state["i"]])[2]
        if terminated or state["t"] == limit:
            env.reset()
            state["t"] = 0

    return rate(step, 1000)


def made(name):
    env = gymnasium.make(name)
    env.reset(seed=1)

    def step():
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()

    return rate(step, 1000)


def vector(name, environments):
    env = gymnasium.make_vec(name, num_envs=environments, vectorization_mode="vector_entry_point")
    env.reset(seed=1)
    actions = [numpy.random.randint(0, 2, environments) for _ in range(16)]
    state = {"i": 0}

    def step():
        state["i"] = (state["i"] + 1) % 16
        env.step(actions[state["i"]])

    return environments * rate(step, 1)


def derivative(_, s, e1, e2):
    T1, T1s, T2, T2s, V, E = s
    i1 = (1 - e1) * 8e-7 * V * T1
    i2 = (1 - 0.34 * e1) * 1e-4 * V * T2
    n = T1s + T2s
    return (10000 - 0.01 * T1 - i1, i1 - 0.7 * T1s - 1e-5 * E * T1s,
            31.98 - 0.01 * T2 - i2, i2 - 0.7 * T2s - 1e-5 * E * T2s,
            (1 - e2) * 70 * n - 13 * V - i1 - i2,
            1 + 0.3 * n / (n + 100) * E - 0.25 * n / (n + 500) * E - 0.1 * E)


START = (163573.0, 11945.0, 5.0, 46.0, 63919.0, 24.0)


def hiv(method):
    state = {"s": START, "t": 0}

    def step():
        a = random.randrange(4)
        args = (0.7 * (a & 1), 0.3 * (a >> 1))
        if method == "LSODA (odeint)":
            s = odeint(derivative, state["s"], (0, 5), args, tfirst=True, rtol=1e-8, atol=1e-14)[-1]
        else:
            s = solve_ivp(derivative, (0, 5), state["s"], method, rtol=1e-8, atol=1e-14, args=args).y[:, -1]
        state["s"], state["t"] = s, state["t"] + 1
        if state["t"] == 200:
            state["s"], state["t"] = START, 0

    return rate(step, 1)


def ours():
    out = subprocess.run(
        ["go", "test", "-run", "xxx", "-cpu", "1", "-bench", "Step|Rollout", "-benchtime", "2s", "./internal/rl/sim/...", "./rl/sim"],
        check=True, capture_output=True, text=True).stdout
    rates, package = {}, ""
    for line in out.splitlines():
        if m := re.match(r"pkg: .*/(\w+)$", line):
            package = m[1]
        if m := re.match(r"Benchmark(\w+)\s.*?([\d.]+) (Msteps/s|steps/s)", line):
            rates[package, m[1]] = float(m[2]) * (1e6 if m[3] == "Msteps/s" else 1)
    return rates


def main():
    go = ours()
    rows = [
        ("Mountain Car, bare", go["mountaincar", "Step"], "Gymnasium", bare(MountainCarEnv(), 3, 200)),
        ("Mountain Car, data", go["sim", "RolloutMountainCar"], "Gymnasium, made", made("MountainCar-v0")),
        ("Cart Pole, bare", go["cartpole", "Step"], "Gymnasium", bare(CartPoleEnv(), 2, 500)),
        ("Cart Pole, data", go["sim", "RolloutCartPole"], "Gymnasium, made", made("CartPole-v1")),
    ]
    for n in (100, 10_000, 100_000):
        rows.insert(3, ("Cart Pole, bare", go["cartpole", "Step"], f"Gymnasium, vector of {n:,}", vector("CartPole-v1", n)))
    for method in ("RK45", "DOP853", "LSODA (odeint)"):
        rows.append(("HIV, five days", go["hiv", "Step"], "scipy " + method, hiv(method)))
    print(f"Gymnasium {gymnasium.__version__}, scipy {scipy.__version__}, numpy {numpy.__version__}, one core")
    print(f"{'problem':22}{'ours, steps/s':>15}   {'theirs':28}{'steps/s':>12}{'ratio':>8}")
    for name, a, other, b in rows:
        print(f"{name:22}{a:15,.0f}   {other:28}{b:12,.1f}{a / b:8.0f}")


if __name__ == "__main__":
    main()
