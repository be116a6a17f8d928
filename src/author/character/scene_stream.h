// How the child process writes a scene: a sequence of records, each padded to eight bytes so that the parent can use
// the arrays where they lie. Numbers of 8 bytes, texts (length, bytes, zero) and arrays whose length is known from a
// number before them. scene_read.c is the other half.
#pragma once

#include "character/scene.h"

#include <stdio.h>

void jnaPutInteger(FILE* stream, int64_t value);
void jnaPutText(FILE* stream, const char* text);

/// Head of a scene. The nodes follow: their number, then each; then the meshes likewise, the animations and the notes.
void jnaPutHead(FILE* stream, double metresPerUnit, int upAxis);
void jnaPutNode(FILE* stream, const char* name, int parent, const float rows[12]);
void jnaPutMesh(FILE* stream, const jnaSceneMesh* mesh);
void jnaPutAnimation(FILE* stream, const jnaSceneAnimation* animation);

/// Writes the scene of a .fbx, .dae or .zae file, or why there is none.
void jnaWriteAssimpScene(const char* path, FILE* stream);

/// In the place of a scene: why there is none.
void jnaPutFailure(FILE* stream, const char* sentence);
