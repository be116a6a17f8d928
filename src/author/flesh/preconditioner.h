// The Laplacian's factor once more, in single precision and laid out to be read once from front to back: the solve that
// every iteration of the flesh is made of.
//
// Its supernodes are cut into panels of at most 16 columns. A panel holds the triangle of its own columns (column
// by column, the reciprocal of the diagonal first) and then the rows below, four at a time: [column][4 rows]. Forward:
// x_below -= B x_own after the triangle; backward: x_own -= B^T x_below before it. Both read the panel once; four rows
// share every load of x_own. A wide supernode thus becomes several panels whose rows are partly its own. Single
// precision is enough: this matrix only has to be close to the Hessian, not right to the last digit.
//
// Vectors have one float4 per free node, in the order of the factor: x, y, z, 0, and one more place at the end that
// takes what padding writes.
#pragma once

#include "volume/laplacian.h"

#include "base/arena.h"

enum { JNA_PANEL_GROUP = 4 };

typedef struct jnaPanel {
    int32_t first, width; // columns
    int32_t groups;       // of four rows below
    uint32_t rows;        // place of the first in `rows`
    size_t entries;       // place of the first in `entries`
} jnaPanel;

typedef struct jnaPreconditioner jnaPreconditioner;
typedef void jnaPanelSolve(const jnaPreconditioner* preconditioner, float* values);

struct jnaPreconditioner {
    int count; // free nodes
    int panelCount;
    size_t entryCount; // floats of `entries`
    size_t rowCount;   // of `rows`
    jnaPanel* panels;  // [panelCount]
    float* entries;
    int32_t* rows;
    jnaPanelSolve* solve; // the fastest that this machine can run; all give the same bytes
    jnaArena memory;
};

// preconditioner_body.h, compiled for each instruction set.
jnaPanelSolve jnaSolvePanelsBaseline, jnaSolvePanelsAvx2;

// order: [free nodes], written: the node that each place of a vector stands for.
jnResult jnaCreatePreconditioner(
    const jnaLaplacian* laplacian, int32_t* order, jnaPreconditioner* preconditioner, jnError* error);
// Takes the values of a Laplacian of the same mesh that was factored again.
void jnaPreconditioner_Refill(jnaPreconditioner* preconditioner, const jnaLaplacian* laplacian);
void jnaDestroyPreconditioner(jnaPreconditioner* preconditioner);

// Solves in place. values: [count + 1][4].
void jnaPreconditioner_Solve(const jnaPreconditioner* preconditioner, float* values);
