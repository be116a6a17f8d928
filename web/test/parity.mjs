// Where each function of the C API is in the npm package: a member of one of its classes, or why it is not there.
const none = (why) => ({ why });
const engines = none('for engines with other axes, units and names; three.js and Babylon.js have those of the file');
const alone = none('springs without a character, for arrays of one\'s own');
const memory = none('memory is the module\'s');

export const PARITY = {
  jnLoadAsset: 'Runtime.loadAsset', jnDestroyAsset: 'Asset.destroy', jnAsset_Clip: 'Asset.clips', jnAsset_FindClip: 'Asset.findClip',
  jnAsset_SampleClip: 'Character.sampleClip', jnAsset_SampleTargets: 'Character.sampleClip',
  jnAsset_FindTarget: 'Asset.findTarget', jnAsset_MorphDeltas: 'Asset.morphDeltas', jnAsset_SparseMorph: 'Asset.sparseMorph',
  jnAsset_SectionCount: 'Asset.sections', jnAsset_Section: 'Asset.sections',
  jnKernelAvailable: none('WebAssembly has one kernel in each module'), jnKernelName: none('see jnKernelAvailable'), jnBestKernel: none('hasSimd decides'),
  jnVersion: 'Runtime.version', jnAbi: none('the layout of C structs'),
  jnSetAssertHandler: none('a broken contract traps, and what can break one is checked before'), jnMisuseCount: none('see jnSetAssertHandler'),

  jnDefaultCharacterDef: 'Asset.createCharacter', jnCreateCharacter: 'Asset.createCharacter', jnDestroyCharacter: 'Character.destroy',
  jnCharacter_ByteCount: memory, jnCharacter_Asset: 'Character.asset', jnCharacter_Step: 'Character.step', jnStepCharacters: 'Crowd.step',
  jnCharacter_Reset: 'Character.reset', jnCharacter_Skin: 'Character.skin', jnCharacter_Target: 'Character.target',
  jnCharacter_Finish: 'Character.finish', jnCharacter_Evaluate: 'Character.evaluate', jnCharacter_Settle: 'Character.settle',
  jnCharacter_SolveLoop: 'Character.solveLoop', jnCharacter_SetNetworkStrength: 'Character.setNetworkStrength',
  jnCharacter_SetLevel: 'Character.setLevel',
  jnCharacter_SetForce: 'Character.setForce', jnCharacter_SetInertia: 'Character.setInertia', jnCharacter_SetCap: 'Character.setCap',
  jnCharacter_SetTeleportThreshold: 'Character.setTeleportThreshold', jnCharacter_SetStrength: 'Character.setStrength',
  jnCharacter_AddImpulse: 'Character.addImpulseAt', jnCharacter_AddImpulseSphere: 'Character.addImpulse',
  jnCharacter_TuneModes: 'Character.tuneModes', jnCharacter_TuneMode: 'Character.tuneMode', jnCharacter_ScaleModeCaps: 'Character.scaleModeCaps', jnCharacter_SetMask: 'Character.setMask',
  jnCharacter_SetColliders: none('colliders are not in the package yet'), jnCharacter_Contacts: none('colliders are not in the package yet'),
  jnCharacter_Describe: none('the viewer has its own curves'),
  jnAsset_Counts: none('for bindings that mirror structs'), jnAsset_Joint: none('for bindings that mirror structs'),
  jnAsset_MatchBones: engines, jnAsset_DescribeBones: engines, jnAsset_MatchVertices: engines, jnMakeEngineSpace: engines,
  jnEngineSpace_Points: engines, jnEngineSpace_Directions: engines, jnEngineSpace_Rotations: engines, jnEngineSpace_Scales: engines,
  jnEngineSpace_Matrices: engines,
  jnCharacter_SnapshotSize: 'Character.save', jnCharacter_Save: 'Character.save', jnCharacter_Restore: 'Character.restore',
  jnCharacter_ResetCount: 'Character.resetCount', jnCharacter_BadPoseCount: 'Character.badPoseCount',

  // A character's own springs are reached through the character.
  jnCharacter_Springs: 'Character.setParameters', jnSprings_SetParameters: 'Character.setParameters', jnSprings_SetTuning: 'Character.setTuning',
  jnSprings_SetStrength: 'Character.setStrength', jnSprings_GetState: 'Character.readState', jnSprings_Count: 'Asset.ownSpringCount',
  jnSprings_SetForce: 'Character.setForce', jnSprings_SetInertia: 'Character.setInertia', jnSprings_SetCap: 'Character.setCap',
  jnSprings_SetTeleportThreshold: 'Character.setTeleportThreshold', jnSprings_AddImpulse: 'Character.addImpulseAt',
  jnSprings_AddImpulseSphere: 'Character.addImpulse', jnSprings_ResetCount: 'Character.resetCount', jnSprings_Save: 'Character.save',
  jnSprings_Restore: 'Character.restore', jnSprings_SnapshotSize: 'Character.save', jnSprings_SetState: 'Character.restore',
  jnSprings_Step: 'Character.step', jnSprings_Reset: 'Character.reset', jnSprings_Finish: 'Character.finish', jnSprings_Evaluate: 'Character.evaluate',
  jnSprings_Settle: 'Character.settle', jnSprings_SolveLoop: 'Character.solveLoop',
  jnDefaultSpringsDef: alone, jnSprings_ByteCount: memory, jnCreateSprings: alone, jnDestroySprings: alone,
  jnSprings_BeginStep: none('one thread'), jnSprings_StepBlocks: none('one thread'), jnSprings_EndStep: none('one thread'), jnSprings_BlockCount: none('one thread'),
  jnSprings_Kernel: none('WebAssembly has one kernel in each module'),
  jnEvaluateSpring: alone, jnDifferentiateSpring: none('for learning'),
  jnStiffnessFromHertz: 'Mode.hertz', jnDampingFromRatio: 'Mode.ratio', jnHertzFromStiffness: 'Mode.hertz', jnRatioFromDamping: 'Mode.ratio',
};
