// An order of a sparse symmetric matrix in which its Cholesky factor stays sparse: nested dissection of its graph.
#pragma once

#include "jounce/base.h"

/// Orders the rows so that each half of the graph comes before the separator between them. The same graph has the same
/// order, on every machine and any thread.
/// starts: [count + 1]; neighbours: [starts[count]], both directions of every edge; a row itself may be among them.
/// order: [count], written: the row at each place. False: out of memory.
bool jnaDissect(int count, const int* starts, const int* neighbours, int32_t* order);
