// What both entries of the package have in common.
export { JounceError } from './module.js';
export { Asset, type Clip, type Joint, type Layer, type Mode, type NetworkKind, type Part, type Target } from './asset.js';
export { Character, Pose, type CharacterOptions, type Curve, type Detail, type Output, type Start, type StepOptions, type Teleport } from './character.js';
export { Crowd } from './crowd.js';
export { Surface } from './surface.js';
export { hasSimd, Runtime, type Source } from './runtime.js';
