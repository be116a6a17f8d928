// Which nodes the bones hold.
//
// A node inside a bone is held by it, if the bone's joint also has a say in its weights and the node is not on the
// skin. A coarse mesh may have no node inside a thin bone: then the nodes nearest to its axis are taken, out to most of
// the flesh. No tetrahedron has corners on two bones: they would shear it between two rigid bodies. In the end no piece
// of the mesh is left without a held node, for nothing could be solved on it.
#include "bones_internal.h"

#include "inside_internal.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A joint holds a node if it has at least this part of the node's largest weight. Little, for the joints of a spine and
// a neck share their flesh among four; but some, for limbs may touch at rest.
static const double SAY = 0.1;
// Fewest nodes that hold a bone in place and keep it from turning.
enum { FEWEST = 6 };
// A thin bone reaches for nodes out to this part of the flesh's thickness.
static const double WIDEST = 0.6;
// Small parts that should be nearly rigid but have few nodes inside (fingers, toes) are held by their skin. Small: of
// the whole; few: of the part's own nodes.
static const double SMALL_PART = 0.005, NEARLY_RIGID = 0.5, FEW_INSIDE = 0.1;
// Held and soft shares of a joint's flesh that are worth a word.
static const double ALL_RIGID = 0.95, WORTH_A_WORD = 0.001;

typedef struct Hold {
    jnaVolume* volume;
    const jnaCharacter* character;
    const jnaJointFlesh* flesh;
    const double* shares;
    const jnaBoneList* bones;
    double* depths; // [nodeCount], of the held nodes in their bone
    int* counts;    // [jointCount], held nodes
    uint8_t* whole; // [jointCount], held by its skin
} Hold;

static double LargestWeight(const jnaVolume* v, int node)
{
    double most = 0;
    for (int32_t i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
        most = fmax(most, (double)v->weights[i]);
    }
    return most;
}

static bool HasSay(const jnaVolume* v, int node, int joint)
{
    return jnaWeightOf(v, node, joint) >= SAY * LargestWeight(v, node);
}

static void HoldInside(Hold* h)
{
    for (int n = 0; n < h->volume->nodeCount; ++n) {
        h->depths[n] = 1;
        for (int b = 0; !h->flesh->boundary[n] && b < h->bones->count; ++b) {
            const jnaBone* bone = &h->bones->bones[b];
            double depth = jnaBone_Depth(bone, h->volume->nodes + 3 * (size_t)n);
            if (depth < h->depths[n] && HasSay(h->volume, n, bone->joint)) {
                h->depths[n] = depth;
                h->volume->heldBy[n] = bone->joint;
            }
        }
    }
}

// A tetrahedron on two bones gives up its outermost corner, until none is left.
static void PartBones(Hold* h)
{
    jnaVolume* v = h->volume;
    for (bool changed = true; changed;) {
        changed = false;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * (size_t)t;
            int joint = -1, outermost = -1;
            bool several = false;
            for (int i = 0; i < 4; ++i) {
                if (v->heldBy[c[i]] < 0) {
                    continue;
                }
                several = several || (joint >= 0 && v->heldBy[c[i]] != joint);
                joint = v->heldBy[c[i]];
                outermost = outermost < 0 || h->depths[c[i]] > h->depths[outermost] ? c[i] : outermost;
            }
            if (several) {
                v->heldBy[outermost] = -1;
                changed = true;
            }
        }
    }
}

static void Count(Hold* h)
{
    memset(h->counts, 0, (size_t)h->flesh->jointCount * sizeof(int));
    for (int n = 0; n < h->volume->nodeCount; ++n) {
        if (h->volume->heldBy[n] >= 0) {
            h->counts[h->volume->heldBy[n]]++;
        }
    }
}

// Whether a node may be given to a joint: free, and in no tetrahedron with another joint's. starts, around: the
// tetrahedra around each node.
static bool IsApart(const jnaVolume* v, const int* starts, const int* around, int node, int joint)
{
    for (int i = starts[node]; i < starts[node + 1]; ++i) {
        for (int k = 0; k < 4; ++k) {
            int32_t other = v->heldBy[v->tetrahedra[4 * (size_t)around[i] + (size_t)k]];
            if (other >= 0 && other != joint) {
                return false;
            }
        }
    }
    return true;
}

// The free inner node that is nearest to the axis of a joint's bones, within the widest bone it could have; -1 if none.
static int NearestNode(const Hold* h, const int* starts, const int* around, int joint, double* depth)
{
    int best = -1;
    *depth = WIDEST / h->shares[joint];
    for (int n = 0; n < h->volume->nodeCount; ++n) {
        if (h->volume->heldBy[n] >= 0 || h->flesh->boundary[n] || !HasSay(h->volume, n, joint)) {
            continue;
        }
        for (int b = 0; b < h->bones->count; ++b) {
            if (h->bones->bones[b].joint != joint) {
                continue;
            }
            double d = jnaBone_Depth(&h->bones->bones[b], h->volume->nodes + 3 * (size_t)n);
            if (d < *depth && IsApart(h->volume, starts, around, n, joint)) {
                *depth = d;
                best = n;
            }
        }
    }
    return best;
}

// Tetrahedra around each node. starts: [nodeCount + 1]; around: [4 * tetrahedronCount].
static void FindAround(const jnaVolume* v, int* starts, int* around)
{
    size_t corners = 4 * (size_t)v->tetrahedronCount;
    memset(starts, 0, ((size_t)v->nodeCount + 1) * sizeof(int));
    for (size_t i = 0; i < corners; ++i) {
        starts[v->tetrahedra[i]]++;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        starts[n + 1] += starts[n];
    }
    for (size_t i = corners; i-- > 0;) {
        around[--starts[v->tetrahedra[i]]] = (int)(i / 4);
    }
}

// Whether a joint's flesh is a thin end, all skin and hardly anything inside.
static bool IsThin(const Hold* h, int joint)
{
    if (h->shares[joint] < NEARLY_RIGID || h->flesh->volumes[joint] > SMALL_PART * h->flesh->total) {
        return false;
    }
    int nodes = 0;
    for (int n = 0; n < h->volume->nodeCount; ++n) {
        nodes += h->flesh->owners[n] == joint;
    }
    return h->counts[joint] < FEW_INSIDE * nodes;
}

// Joints whose bones hold too few nodes reach for more; small parts without any inside are held by their skin.
static jnResult Widen(Hold* h, jnError* error)
{
    const jnaVolume* v = h->volume;
    int* starts = malloc(((size_t)v->nodeCount + 1) * sizeof(int));
    int* around = malloc((4 * (size_t)v->tetrahedronCount + 1) * sizeof(int));
    if (starts == NULL || around == NULL) {
        free(starts);
        free(around);
        return jnFail(error, jn_outOfMemory, "out of memory for the bones of %d nodes", v->nodeCount);
    }
    FindAround(v, starts, around);
    for (int j = 0; j < h->flesh->jointCount; ++j) {
        bool wanted = h->shares[j] > 0 && h->flesh->volumes[j] > 0;
        bool small = IsThin(h, j);
        int node = 0;
        while (wanted && !small && h->counts[j] < FEWEST && node >= 0) {
            double depth;
            node = NearestNode(h, starts, around, j, &depth);
            if (node >= 0) {
                v->heldBy[node] = j;
                h->depths[node] = depth;
                h->counts[j]++;
            }
        }
        for (int n = 0; wanted && small && n < v->nodeCount; ++n) {
            if (h->flesh->owners[n] == j && v->heldBy[n] < 0 && jnaWeightOf(v, n, j) >= 0.9 &&
                IsApart(v, starts, around, n, j)) {
                v->heldBy[n] = j;
                h->counts[j]++;
                h->whole[j] = 1;
            }
        }
    }
    free(starts);
    free(around);
    return jn_ok;
}

// A piece of the mesh without any held node gets one tetrahedron of them: the one nearest to its middle.
static jnResult HoldLoosePieces(Hold* h, jnaNotes* notes, jnError* error)
{
    jnaVolume* v = h->volume;
    size_t nodes = (size_t)v->nodeCount;
    int* pieces = malloc(nodes * sizeof(int));
    double* sums = calloc(nodes, 5 * sizeof(double)); // volume, centre, held nodes of each piece
    if (pieces == NULL || sums == NULL) {
        free(pieces);
        free(sums);
        return jnFail(error, jn_outOfMemory, "out of memory for the pieces of %d nodes", v->nodeCount);
    }
    jnaFindPieces(v, pieces);
    for (int n = 0; n < v->nodeCount; ++n) {
        double* sum = sums + 5 * (size_t)pieces[n];
        sum[0] += h->flesh->nodeVolumes[n];
        for (int i = 0; i < 3; ++i) {
            sum[1 + i] += h->flesh->nodeVolumes[n] * v->nodes[3 * (size_t)n + (size_t)i];
        }
        sum[4] += v->heldBy[n] >= 0;
    }
    for (int p = 0; p < v->nodeCount; ++p) {
        double* sum = sums + 5 * (size_t)p;
        if (pieces[p] != p || sum[4] > 0 || !(sum[0] > 0)) {
            continue;
        }
        int best = -1;
        double least = HUGE_VAL;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * (size_t)t;
            double d = 0;
            for (int i = 0; i < 3 && pieces[c[0]] == p; ++i) {
                double middle = 0;
                for (int k = 0; k < 4; ++k) {
                    middle += v->nodes[3 * (size_t)c[k] + (size_t)i] / 4;
                }
                d += (middle - sum[1 + i] / sum[0]) * (middle - sum[1 + i] / sum[0]);
            }
            if (pieces[c[0]] == p && d < least) {
                least = d;
                best = t;
            }
        }
        const int32_t* c = v->tetrahedra + 4 * (size_t)best;
        int joint = h->flesh->owners[c[0]];
        for (int k = 0; k < 4; ++k) {
            v->heldBy[c[k]] = joint;
        }
        jnaNotes_Add(notes, "a loose piece of %.3g litres at joint '%s' has no bone: its middle is held", 1e3 * sum[0],
            h->character->joints[joint].name);
    }
    free(pieces);
    free(sums);
    return jn_ok;
}

// What a person should know, by joint.
static jnResult Tell(const Hold* h, jnaNotes* notes, jnError* error)
{
    const jnaVolume* v = h->volume;
    double* held = calloc((size_t)h->flesh->jointCount + 1, sizeof(double));
    if (held == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the bones of %d joints", h->flesh->jointCount);
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        held[h->flesh->owners[n]] += v->heldBy[n] >= 0 ? h->flesh->nodeVolumes[n] : 0;
    }
    char names[JNA_NOTE_LENGTH / 2] = "";
    for (int j = 0; j < h->flesh->jointCount; ++j) {
        const char* name = h->character->joints[j].name;
        double volume = h->flesh->volumes[j];
        if (h->whole[j]) {
            size_t length = strlen(names);
            bool room = length + strlen(name) + 8 < sizeof(names);
            snprintf(names + length, sizeof(names) - length, "%s%s", length > 0 ? ", " : "", room ? name : "...");
        } else if (held[j] > ALL_RIGID * volume && volume > 0) {
            jnaNotes_Add(notes, "the flesh of '%s' is rigid, %.0f %% of it is bone: a smaller share would help", name,
                100 * held[j] / volume);
        } else if (held[j] <= 0 && h->counts[j] == 0 && volume > WORTH_A_WORD * h->flesh->total) {
            jnaNotes_Add(notes, "the flesh of '%s', %.3g litres, has no bone in it: %s", name, 1e3 * volume,
                h->shares[j] > 0 ? "a finer mesh or a larger share would help" : "its share is 0");
        }
    }
    if (names[0] != '\0') {
        jnaNotes_Add(notes, "held by their skin and hardly soft, for there are few nodes inside: %s", names);
    }
    free(held);
    return jn_ok;
}

jnResult jnaHoldNodes(jnaVolume* volume, const jnaCharacter* character, const jnaJointFlesh* flesh,
    const double* shares, const jnaBoneList* bones, jnaNotes* notes, jnError* error)
{
    Hold h = {.volume = volume, .character = character, .flesh = flesh, .shares = shares, .bones = bones};
    h.depths = malloc((size_t)volume->nodeCount * sizeof(double));
    h.counts = malloc(((size_t)flesh->jointCount + 1) * sizeof(int));
    h.whole = calloc((size_t)flesh->jointCount + 1, 1);
    jnResult result = jn_ok;
    if (h.depths == NULL || h.counts == NULL || h.whole == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the bones of %d nodes", volume->nodeCount);
    } else {
        HoldInside(&h);
        PartBones(&h);
        Count(&h);
        result = Widen(&h, error);
        result = result == jn_ok ? HoldLoosePieces(&h, notes, error) : result;
        result = result == jn_ok ? Tell(&h, notes, error) : result;
    }
    free(h.depths);
    free(h.counts);
    free(h.whole);
    return result;
}
