// Leaving a function where a call in it failed. A function that holds nothing returns at once:
//
//     JN_PASS(jnaJoinPath(folder, "volume.json", path, error));
//     return Load(path, volume, error);
//
// One that holds something declares `result` at its top and releases everything behind `done:`.
//
//     jnResult result = jn_ok;
//     jnaArena arena = {0};
//     double* row = jnaArena_Take(&arena, count, sizeof(*row));
//     int* order = jnaArena_Take(&arena, count, sizeof(*order));
//     JN_TRY(jnaArena_Check(&arena, "the rows of a table", error));
//     JN_TRY(Fill(row, order, error));
//   done:
//     jnaReleaseArena(&arena);
//     return result;
#pragma once

#include "runtime/for_author.h" // JN_PASS

/// Goes to `done` with the call's result where it is not jn_ok.
#define JN_TRY(call)                                                                                                   \
    do {                                                                                                               \
        result = (call);                                                                                               \
        if (result != jn_ok) {                                                                                         \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
