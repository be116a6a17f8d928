"""The character's morph targets as shape keys of the artist's mesh. Keys of the artist's own are left alone."""

import numpy as np

from .match import rest_positions

PREFIX = "jounce."


def names(count):
    return [f"{PREFIX}{i:03d}" for i in range(count)]


def remove(thing):
    """Takes our keys away, and the basis if nothing else needs it."""
    keys = thing.data.shape_keys
    if keys is None:
        return
    for block in [b for b in keys.key_blocks if b.name.startswith(PREFIX)]:
        thing.shape_key_remove(block)
    keys = thing.data.shape_keys
    if keys is not None and len(keys.key_blocks) == 1:
        thing.shape_key_remove(keys.key_blocks[0])


def make(thing, asset, placement, vertices):
    """A key for each morph weight."""
    remove(thing)
    basis = rest_positions(thing)
    if thing.data.shape_keys is None:
        thing.shape_key_add(name="Basis", from_mix=False)
    back = np.linalg.inv(placement[:3, :3])
    placed = vertices >= 0
    for weight, name in enumerate(names(asset.weight_count)):
        moved = basis.copy()
        moved[placed] += asset.morph_deltas(weight, welded=True)[vertices[placed]] @ back.T
        block = thing.shape_key_add(name=name, from_mix=False)
        block.slider_min, block.slider_max = -4.0, 4.0  # before the value, which they limit
        block.data.foreach_set("co", moved.astype(np.float32).reshape(-1))
        block.value = 0.0


class Values:
    """The values of our keys, set all at once."""

    def __init__(self, thing, count):
        blocks = thing.data.shape_keys.key_blocks if thing.data.shape_keys else []
        place = {block.name: i for i, block in enumerate(blocks)}
        self.count = len(blocks)
        self.places = [place[n] for n in names(count) if n in place]
        self.complete = len(self.places) == count
        self.buffer = np.empty(self.count, np.float32)

    def set(self, thing, weights):
        """False if the keys are no longer those that were there."""
        keys = thing.data.shape_keys
        if keys is None or len(keys.key_blocks) != self.count or not self.complete:
            return False
        keys.key_blocks.foreach_get("value", self.buffer)
        self.buffer[self.places] = weights
        keys.key_blocks.foreach_set("value", self.buffer)
        thing.update_tag(refresh={"DATA"})
        return True
