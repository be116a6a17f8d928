#!/usr/bin/python3
"""The same fit in PyTorch: autograd through all frames, Adam on the logarithms of stiffness and damping.

    jounce-bench fit --keep DIR && python3 bench/peers/spring_fit_torch.py DIR

Adam needs many gradients and each is slow, so the whole is not run: the number of steps to the loss that `jounce` reached is
counted on a few springs, the time of a step is measured on all of them, and the two are multiplied.
"""
import sys
import time

import numpy as np
import torch

DT = float(np.float32(1) / np.float32(30))
COUNTED = 64       # springs on which steps are counted
MOST_STEPS = 300   # give up counting here: the figure is then a lower bound
GOAL = 1.01        # reached: the summed loss is within one percent of ours


def responses(stiffness, damping):
    """EC, ES, G1, G2 of the closed form, with complex roots covering both regimes."""
    alpha = damping / 2
    root = torch.sqrt((alpha * alpha - stiffness).to(torch.complex128))
    decay = torch.exp(-alpha * DT)
    cosine = decay * torch.cosh(root * DT).real
    sine = decay * (torch.sinh(root * DT) / root).real
    step = (1 - cosine - alpha * sine) / stiffness
    ramp = (DT - damping * step - sine) / stiffness
    return alpha, cosine, sine, step, ramp


def loss_of(theta, bend, offset):
    stiffness, damping = torch.exp(theta[0]), torch.exp(theta[1])
    alpha, cosine, sine, step, ramp = responses(stiffness, damping)
    position, velocity, back = cosine + alpha * sine, cosine - alpha * sine, -stiffness * sine
    k0, k1 = 3 * ramp / DT - 2 * step, step - 3 * ramp / DT
    v0, v1 = 3 * step / DT - 2 * sine, sine - 3 * step / DT
    y = torch.zeros_like(offset[0])
    v = torch.zeros_like(offset[0])
    loss = ((y - offset[0]) ** 2).sum(0)
    for n in range(len(offset) - 1):
        y, v = (position * y + sine * v + k0 * bend[n] + k1 * bend[n + 1],
                back * y + velocity * v + v0 * bend[n] + v1 * bend[n + 1])
        loss = loss + ((y - offset[n + 1]) ** 2).sum(0)
    return loss


def load(folder, springs):
    targets = np.load(f"{folder}/targets.npy", mmap_mode="r")[:, springs].astype(np.float64)
    dynamics = np.load(f"{folder}/dynamics.npy", mmap_mode="r")[:, springs].astype(np.float64)
    bend = np.zeros_like(targets)
    bend[1:-1] = ((targets[2:] - targets[1:-1]) - (targets[1:-1] - targets[:-2])) / DT**2
    axes_first = lambda a: torch.from_numpy(np.ascontiguousarray(a.transpose(0, 2, 1)))
    return axes_first(bend), axes_first(dynamics - targets)


def start(count):
    """4 Hz, a damping ratio of 0.3, for every spring."""
    omega = 2 * np.pi * 4
    return torch.tensor([[np.log(omega**2)] * count, [np.log(0.6 * omega)] * count], dtype=torch.float64, requires_grad=True)


def main():
    folder = sys.argv[1]
    torch.set_num_threads(2)
    ours = np.load(f"{folder}/loss.npy")
    seconds = float(np.load(f"{folder}/seconds.npy")[0])
    pick = np.linspace(0, len(ours) - 1, COUNTED).astype(int)

    bend, offset = load(folder, pick)
    theta = start(COUNTED)
    adam = torch.optim.Adam([theta], lr=0.05)
    goal, steps, reached = GOAL * ours[pick].sum(), 0, False
    while steps < MOST_STEPS and not reached:
        adam.zero_grad()
        loss = loss_of(theta, bend, offset).sum()
        reached = loss.item() <= goal
        if not reached:
            loss.backward()
            adam.step()
            steps += 1

    bend, offset = load(folder, slice(None))
    theta = start(len(ours))
    best = 1e9
    for _ in range(3):
        begin = time.perf_counter()
        theta.grad = None
        loss_of(theta, bend, offset).sum().backward()
        best = min(best, time.perf_counter() - begin)
    total = best * steps
    word = "reached" if reached else f"NOT reached ({loss.item() / ours[pick].sum():.3g} times ours)"
    print(f"PyTorch {torch.__version__}, 2 threads: {best:.2f} s a gradient of {len(ours)} springs, "
          f"{steps} steps of Adam, the same loss {word}: {total:.0f} s")
    print(f"jounce: {seconds:.2f} s, {total / seconds:.0f} times faster{'' if reached else ' at least'}")


if __name__ == "__main__":
    main()
