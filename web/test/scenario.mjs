// The steps of reference.c in WebAssembly: yields the frame's number and the character after each step
// and at a quarter of it.
const STEPS = [8, 8, 8, 16, 4, 8, 1, 48, 8, 0, 8, 8];
export const FRAMES = 36; // and one of a loop

const CONTROLS = {
  6: (c) => c.setTuning(1.5, 0.5),
  9: (c) => c.setForce(0.5, -9.75, 0.25),
  12: (c) => c.addImpulse([0, 1, 0.125], 0.5, [0.5, 1, -0.25]),
  15: (c) => {
    c.setStrength(0.75);
    c.setNetworkStrength(0.75);
  },
  18: (c) => c.setInertia(0.5, 0.25),
  20: (c) => c.asset.modes.length > 0 && c.tuneModes(c.asset.modes[0].joint, 0.75, 2, 1.25),
  22: (c) => c.scaleModeCaps(0.5),
  24: (c) => c.setCap(0.03125),
};

export function* play(asset) {
  const character = asset.createCharacter();
  let time = 0;
  for (let n = 0; n < FRAMES; ++n) {
    const h = STEPS[n % STEPS.length] / 480;
    time += h;
    character.pose.root.set([(n % 8) / 64, (n % 3) / 128, 0]);
    CONTROLS[n]?.(character);
    character.sampleClip(0, time);
    character.step(h, { velocities: true, teleport: n === 21 ? 'keep' : n === 30 ? 'reset' : 'none' });
    yield { n, inside: false, character };
    character.evaluate(0.25, { velocities: true });
    yield { n, inside: true, character };
  }
  // The motion that repeats with twelve poses, one step of it, and a rest.
  const setPose = (frame) => {
    character.pose.root.set([0, 0, 0, 0, 0, 0, 1]);
    character.sampleClip(0, frame / 16);
  };
  character.solveLoop(12, 1 / 16, setPose);
  setPose(1);
  character.step(1 / 16, { velocities: true });
  yield { n: FRAMES, inside: false, character };
  character.settle(1 / 32, { velocities: true });
  yield { n: FRAMES, inside: true, character };
  character.destroy();
}

/** FNV-1a, 32 bits, of bytes; `hash` to go on from. */
export function hashBytes(bytes, hash = 0x811c9dc5) {
  for (let i = 0; i < bytes.length; ++i) {
    hash = Math.imul(hash ^ bytes[i], 0x01000193);
  }
  return hash >>> 0;
}

/** The hash of everything that comes out, in the order of reference.c. */
export function hashOf(asset) {
  let hash;
  for (const { n, inside, character } of play(asset)) {
    const last = n === FRAMES && inside ? [character.weights] : [];
    for (const { buffer, byteOffset, byteLength } of [character.positions, character.normals, character.velocities, ...last]) {
      hash = hashBytes(new Uint8Array(buffer, byteOffset, byteLength), hash);
    }
  }
  return hash;
}
