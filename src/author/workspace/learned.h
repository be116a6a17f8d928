// What a fit leaves in a workspace: springs/*.npy, and fit.json which tells how it came about.
#pragma once

#include "learn/spring_parts.h"
#include "modes/modes.h"
#include "workspace/workspace.h"

#include <jansson.h>

/// Numbers of a character's springs. What is NULL was not learned; all are owned.
typedef struct jnaLearned {
    int vertexCount, modeCount;
    float *stiffness, *damping;                        // [vertexCount], a spring per vertex
    float *skinnedStiffness, *skinnedDamping;          // [vertexCount], the same on skinning alone
    double *modalStiffness, *modalDamping, *modalGain; // [modeCount]
    float* modalShapes;                                // [modeCount][vertexCount][3]
    double uniform[2];                                 // stiffness and damping of one spring for all; 0: none
} jnaLearned;
void jnaDestroyLearned(jnaLearned* learned);

/// Writes the arrays that are there and removes those that are not.
jnResult jnaSaveLearned(const char* workspace, const jnaLearned* learned, jnError* error);

/// Reads what is there. modeCount 0: the modes' numbers are left out. An array of another size is an error.
jnResult jnaLoadLearned(const char* workspace, int vertexCount, int modeCount, jnaLearned* learned, jnError* error);

/// What moves: the manifest's layer, or for `auto` the one that the fit kept (fit.json); modes of the motion that are
/// not found yet are springs per vertex.
jnaSpringLayer jnaWorkspace_Layer(const jnaWorkspace* workspace);

/// Fraction of the motion that a layer explains, as the fit measured it on clips that it did not see, or where there
/// are none on those it did; NaN where no fit says.
double jnaWorkspace_Explains(const jnaWorkspace* workspace, jnaSpringLayer layer);

/// Gives modes, whose arrays are their own, the learned numbers and shapes. Where a learned shape moves its farthest
/// vertex farther than the physical one, the cap is lowered by as much.
void jnaLearned_Apply(const jnaLearned* learned, jnaModes* modes);

/// The same as a copy. Its stiffness, damping, gain and caps are one allocation, which free(modes->stiffness) releases;
/// shapes are shared with what was learned, the rest with the physical ones.
jnResult jnaLearned_SetModes(const jnaLearned* learned, const jnaModes* physical, jnaModes* modes, jnError* error);

/// Springs part by part, for fit.json and for --json. NULL: out of memory.
json_t* jnaSpringParts_Json(const jnaSpringParts* parts);

/// Parts by region where the workspace has a volume, by joint otherwise.
jnResult jnaPartsOfWorkspace(jnaWorkspace* workspace, jnaParts* parts, jnError* error);
