#!/usr/bin/python3
"""The same networks trained by PyTorch on the same data, with the same masks, loss, batches, Adam and learning rates.

    jounce-bench network --poses 0 --keep DIR && python3 bench/peers/network_train_torch.py DIR [pca] [cnn]

Each is trained until its validation error is within two percent of what `jounce` reached, or for as many epochs.
"""
import math
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

WARM_UP, LAST_RATE, TEXEL_SHARE, SHARED_DECAY, GOAL = 0.02, 0.005, 0.1, 50.0, 1.02
BATCH = {"pca": 64, "cnn": 16}


class Data:
    def __init__(self, folder, kind):
        load = lambda name: np.load(f"{folder}/{kind}_{name}.npy")
        self.kind = kind
        self.inputs = torch.from_numpy(load("inputs"))
        self.train, self.held = (load(n)[0].astype(np.int64) for n in ("train", "held"))
        self.mask, self.sizes = load("mask")[0], load("sizes")[0]
        self.seconds, self.goal, epochs, self.rate, self.decay, self.unit = load("facts")[0]
        self.epochs = int(epochs)
        if kind == "pca":
            self.targets = torch.from_numpy(load("targets"))
            self.squares = torch.from_numpy(load("squares")[0])
            self.residuals = torch.from_numpy(load("residuals")[0])
            self.scale = 1.0 / float((self.squares * self.targets[self.train].double() ** 2).sum(1).mean())
            return
        self.channels = load("channels")[0]
        self.wanted = torch.from_numpy(load("displacements")).reshape(len(self.inputs), -1, 3)
        self.scale = 1.0 / self.unit**2
        starts, places = load("lookup_starts")[0], load("lookups")
        side = 8 << (len(self.channels) - 1)
        self.rows, self.columns, self.values = [], [], []
        for v in range(len(starts) - 1):
            for l in range(starts[v], starts[v + 1]):
                x, y = places[l]
                c, r = int(x), int(y)
                fx, fy = x - c, y - r
                for dy, dx, share in ((0, 0, (1 - fx) * (1 - fy)), (0, 1, fx * (1 - fy)), (1, 0, (1 - fx) * fy), (1, 1, fx * fy)):
                    self.rows.append(v)
                    self.columns.append((r + dy) * side + c + dx)
                    self.values.append(share / (starts[v + 1] - starts[v]))
        self.lookup = torch.sparse_coo_tensor(torch.tensor([self.rows, self.columns]), torch.tensor(self.values, dtype=torch.float32),
                                              (len(starts) - 1, side * side)).coalesce()
        texels, shares = load("texels").astype(np.int64), torch.from_numpy(load("shares"))
        covered = torch.from_numpy(texels[:, 0] >= 0)
        self.shown = lambda d: torch.where(covered[:, None], (d[:, np.maximum(texels, 0)] * shares[None, :, :, None]).sum(2), torch.zeros(()))
        self.covered = covered.float()[None, :, None]


class Network(torch.nn.Module):
    def __init__(self, data):
        super().__init__()
        self.dense, self.masks, self.shared, at = torch.nn.ModuleList(), [], [], 0
        for i in range(len(data.sizes) - 1):
            layer = torch.nn.Linear(int(data.sizes[i]), int(data.sizes[i + 1]))
            count = int(data.sizes[i] * data.sizes[i + 1])
            marks = data.mask[at:at + count].reshape(data.sizes[i], data.sizes[i + 1]).T
            mask = torch.from_numpy((marks != 0).astype(np.float32))
            self.shared.append(torch.from_numpy((marks == 2).astype(np.float32)))
            at += count + int(data.sizes[i + 1])
            with torch.no_grad():
                seen = mask.sum(1, keepdim=True).clamp(min=1)
                last = data.kind == "pca" and i + 2 == len(data.sizes)
                bound = torch.sqrt((1.0 if last else 6.0) / seen)
                layer.weight.copy_((torch.rand_like(layer.weight) * 2 - 1) * bound * mask)
                layer.bias.zero_()
            self.dense.append(layer)
            self.masks.append(mask)
        self.stages = torch.nn.ModuleList()
        if data.kind == "cnn":
            self.first = int(data.channels[0])
            for a, b in zip(data.channels[:-1], data.channels[1:]):
                self.stages.append(torch.nn.ConvTranspose2d(int(a), int(b), 4, 2, 1))

    def mask_gradients(self):
        for layer, mask in zip(self.dense, self.masks):
            layer.weight.grad *= mask

    def decay_shared(self, share):
        with torch.no_grad():
            for layer, shared in zip(self.dense, self.shared):
                layer.weight.mul_(1 - share * shared)

    def forward(self, x):
        for i, layer in enumerate(self.dense):
            x = layer(x)
            if i + 1 < len(self.dense):
                x = F.silu(x)
        if len(self.stages) == 0:
            return x
        x = F.leaky_relu(x, 0.1).reshape(len(x), 8, 8, self.first).permute(0, 3, 1, 2)
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i + 1 < len(self.stages):
                x = F.leaky_relu(x, 0.1)
        return x.permute(0, 2, 3, 1).reshape(len(x), -1, 3)


def losses(data, outputs, which, training):
    """Mean square metres of each sample, and what training minds besides."""
    if data.kind == "pca":
        return (data.squares * (outputs - data.targets[which]).double() ** 2).sum(1) + data.residuals[which], 0.0
    n, texels, _ = outputs.shape
    flat = outputs.permute(1, 0, 2).reshape(texels, -1)
    found = torch.sparse.mm(data.lookup, flat).reshape(-1, n, 3).permute(1, 0, 2)
    main = ((data.unit * found - data.wanted[which]) ** 2).sum(2).mean(1)
    extra = 0.0
    if training:
        extra = TEXEL_SHARE * (data.covered * (data.unit * outputs - data.shown(data.wanted[which])) ** 2).sum((1, 2)).mean() / texels
    return main, extra


def train(data):
    torch.manual_seed(1)
    network = Network(data)
    adam = torch.optim.AdamW(network.parameters(), lr=data.rate, weight_decay=data.decay)
    batch = BATCH[data.kind]
    steps = math.ceil(len(data.train) / batch)
    total, step, begin, best = data.epochs * steps, 0, time.perf_counter(), 1e9
    for epoch in range(data.epochs):
        order = np.random.permutation(data.train)
        for first in range(0, len(order), batch):
            which = order[first:first + batch]
            rate = data.rate * min((step + 1) / max(WARM_UP * total, 1), 1)
            rate *= LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * step / total))
            adam.param_groups[0]["lr"] = rate
            adam.zero_grad()
            main, extra = losses(data, network(data.inputs[which]), which, True)
            (data.scale * (main.mean() + extra)).backward()
            network.mask_gradients()
            adam.step()
            network.decay_shared(rate * data.decay * (SHARED_DECAY - 1))
            step += 1
        with torch.no_grad():
            best = min(best, math.sqrt(float(losses(data, network(data.inputs[data.held]), data.held, False)[0].mean())))
        if best <= GOAL * data.goal:
            break
    seconds = time.perf_counter() - begin
    word = "reached" if best <= GOAL * data.goal else "NOT reached"
    print(f"{data.kind}: PyTorch {torch.__version__}, 2 threads: {epoch + 1} epochs in {seconds:.2f} s ({seconds / (epoch + 1):.3f} s each), "
          f"validation {1e3 * best:.4f} mm; {1e3 * data.goal:.4f} mm {word}")
    print(f"{data.kind}: jounce: {data.epochs} epochs in {data.seconds:.2f} s ({data.seconds / data.epochs:.3f} s each); "
          f"PyTorch takes {seconds / data.seconds:.2f} times as long, {seconds / (epoch + 1) * data.epochs / data.seconds:.2f} times an epoch")


def main():
    torch.set_num_threads(2)
    np.random.seed(1)
    for kind in sys.argv[2:] or ("pca", "cnn"):
        train(Data(sys.argv[1], kind))


if __name__ == "__main__":
    main()
