// What the author side may know of the runtime's insides, and the only header of this folder that it includes.
//
//   internal.h             jnFail, JN_PASS, aligned memory, the width of a block of vertices
//   bone_names.h           what the name of a bone says: what is imported is matched as what is played
//   asset_format.h         sections of a .jounce file: the author writes what asset.c reads
//   force_filter.h         how the force on a mode saturates
//   network.h              shapes, limits and kernels of the network: training and export use the same
//   rig.h                  skinning and joint rotations, so that what is learned is what is played
//
// Two more take long to compile and are asked for by a macro that is defined before this header is included, the first
// time or again:
//
//   JN_WANTS_CHARACTER     character_internal.h: a step on targets that come from elsewhere, amplitudes of the modes
//   JN_WANTS_LANES         lanes.h: vectors, for kernels
//
// A change in one of these headers can reach the author side; a change in any other header of the runtime cannot.
#include "asset_format.h"
#include "bone_names.h"
#include "force_filter.h"
#include "internal.h"
#include "network.h"
#include "rig.h"

#ifdef JN_WANTS_CHARACTER
#include "character_internal.h"
#endif
#ifdef JN_WANTS_LANES
#include "lanes.h"
#endif
