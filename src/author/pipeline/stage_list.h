// The stages of a build in the order they run. Which of them a workspace needs, its manifest says.
//
// A new stage is one line here, and a file with a `const jnaBuildKind jnaBuildNAME` (build_internal.h).
#pragma once

// clang-format off
#define JNA_STAGES(STAGE)                                                                                              \
    STAGE(Import)                                                                                                      \
    STAGE(Volume)   /* tetrahedra and what lives in them */                                                            \
    STAGE(Modes)    /* where springs are on modes */                                                                   \
    STAGE(Poses)    /* where there is a network */                                                                     \
    STAGE(Motion)   /* where springs are learned, of clips that bring no motion */                                     \
    STAGE(Train)                                                                                                       \
    STAGE(Fit)                                                                                                         \
    STAGE(Export)   /* of whatever is there, from the modes on */                                                      \
    STAGE(Evaluate)                                                                                                    \
    STAGE(Report)
// clang-format on
