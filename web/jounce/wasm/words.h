// What the module tells of its objects: tables of 32-bit words, each WORD(name, value). make-words.sh makes src/words.ts
// from these lines, so that JavaScript finds a word by its name and nobody keeps two lists in the same order.
#pragma once

// clang-format off
// Of an asset `a`.
#define JNW_ASSET_WORDS(WORD)                                                                                          \
    WORD(name, Address(a->name))                                                                                       \
    WORD(jointCount, (uint32_t)a->jointCount)                                                                          \
    WORD(vertexCount, (uint32_t)a->vertexCount)                                                                        \
    WORD(fileVertexCount, (uint32_t)a->fileVertexCount)                                                                \
    WORD(triangleCount, (uint32_t)a->triangleCount)                                                                    \
    WORD(partCount, (uint32_t)a->partCount)                                                                            \
    WORD(clipCount, (uint32_t)a->clipCount)                                                                            \
    WORD(springCount, MovingCount(a))                                                                                  \
    WORD(timing, (uint32_t)a->timing)                                                                                  \
    WORD(skinning, (uint32_t)a->skinning)                                                                              \
    WORD(sectionCount, (uint32_t)jnAsset_SectionCount(a))                                                              \
    WORD(joints, Address(a->joints))                                                                                   \
    WORD(rest, Address(a->rest))                                                                                       \
    WORD(stiffness, Address(a->stiffness))                                                                             \
    WORD(damping, Address(a->damping))                                                                                 \
    WORD(weld, Address(a->weld))                                                                                       \
    WORD(triangles, Address(a->triangles))                                                                             \
    WORD(uvs, Address(a->uvs))                                                                                         \
    WORD(fileNormals, Address(a->fileNormals))                                                                         \
    WORD(order, Address(a->order))                                                                                     \
    WORD(parts, Address(a->parts))                                                                                     \
    WORD(jointSize, (uint32_t)sizeof(jnAssetJoint))                                                                    \
    WORD(partSize, (uint32_t)sizeof(jnAssetPart))                                                                      \
    WORD(normalCount, (uint32_t)a->normalCount)                                                                        \
    WORD(network, Address(jnNetworkNames[a->network]))                                                                 \
    WORD(modeCount, a->modes != NULL ? (uint32_t)a->modes->modeCount : 0)                                              \
    WORD(modes, a->modes != NULL ? Address(a->modes->modes) : 0)                                                       \
    WORD(modeSize, (uint32_t)sizeof(jnAssetMode))                                                                      \
    WORD(componentCount, (uint32_t)a->componentCount)                                                                  \
    WORD(isLinear, a->isLinear)                                                                                        \
    WORD(networkError, Address(&a->networkError))                                                                      \
    WORD(driverCount, (uint32_t)a->driverCount)                                                                        \
    WORD(rate, Address(&a->rate))                                                                                      \
    WORD(influenceStarts, Address(a->influenceStarts))                                                                 \
    WORD(influenceJoints, Address(a->influenceJoints))                                                                 \
    WORD(influenceWeights, Address(a->influenceWeights))                                                               \
    WORD(blockCount, (uint32_t)a->blockCount)                                                                          \
    WORD(ownSpringCount, (uint32_t)a->springCount)                                                                     \
    WORD(targetCount, (uint32_t)a->targetCount)                                                                        \
    WORD(targets, Address(a->targets))                                                                                 \
    WORD(targetSize, (uint32_t)sizeof(jnAssetTarget))                                                                  \
    WORD(hitVertexCount, (uint32_t)a->hitVertexCount)                                                                  \
    WORD(weightCount, (uint32_t)a->weightCount)                                                                        \
    WORD(weightMix, a->weightMix != NULL)

// Of a clip; rate: the address of a double.
#define JNW_CLIP_WORDS(WORD)                                                                                           \
    WORD(name, Address(clip.name))                                                                                     \
    WORD(frameCount, (uint32_t)clip.frameCount)                                                                        \
    WORD(looping, clip.looping)                                                                                        \
    WORD(isTest, clip.isTest)                                                                                          \
    WORD(rate, Address(numbers))

// Of a surface.
#define JNW_SURFACE_WORDS(WORD)                                                                                        \
    WORD(positions, Address(surface->positions))                                                                       \
    WORD(normals, Address(surface->normals))                                                                           \
    WORD(velocities, Address(surface->velocities))

// Of a character `c`.
#define JNW_CHARACTER_WORDS(WORD)                                                                                      \
    WORD(rotations, Address(c->rotations))                                                                             \
    WORD(translations, Address(c->translations))                                                                       \
    WORD(scales, Address(c->scales))                                                                                   \
    WORD(matrices, Address(c->matrices))                                                                               \
    WORD(root, Address(&c->root))                                                                                      \
    WORD(weights, Address(c->weights))                                                                                 \
    WORD(weightRates, Address(c->weightRates))                                                                         \
    WORD(origin, Address(c->origin))                                                                                   \
    WORD(targets, Address(c->targets))

// Of a crowd.
#define JNW_CROWD_WORDS(WORD)                                                                                          \
    WORD(members, Address(crowd->members))                                                                             \
    WORD(seconds, Address(crowd->seconds))                                                                             \
    WORD(teleports, Address(crowd->teleports))                                                                         \
    WORD(weights, Address(crowd->weights))                                                                             \
    WORD(times, Address(crowd->times))                                                                                 \
    WORD(matrices, Address(crowd->matrices))
// clang-format on
