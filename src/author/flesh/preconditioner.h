// The Laplacian's factor once more, in single precision and laid out to be read once from front to back: the solve that
// every iteration of the flesh is made of.
//
// Vectors have one float4 per free node, in the order of the factor: x, y, z, 0, and one more place at the end that
// takes what padding writes.
#pragma once

#include "volume/laplacian.h"

#include "base/arena.h"

typedef struct jnaPreconditioner {
    int count; // free nodes
    int panelCount;
    size_t entryCount;       // floats of `entries`
    size_t rowCount;         // of `rows`
    struct jnaPanel* panels; // [panelCount]
    float* entries;
    int32_t* rows;
    jnaArena memory;
} jnaPreconditioner;

// order: [free nodes], written: the node that each place of a vector stands for.
jnResult jnaCreatePreconditioner(
    const jnaLaplacian* laplacian, int32_t* order, jnaPreconditioner* preconditioner, jnError* error);
void jnaDestroyPreconditioner(jnaPreconditioner* preconditioner);

// Solves in place. values: [count + 1][4], aligned to 16.
void jnaPreconditioner_Solve(const jnaPreconditioner* preconditioner, float* values);
