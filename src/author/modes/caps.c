// How far modes may move the skin.
//
// A mode is linear: thrown hard enough it moves flesh farther than there is flesh. What is shown of it is therefore
// limited, mode by mode, so that a step does no work per vertex for it. With r_v the reach of a vertex (how far it may
// go) and e_k the amplitudes of a lively motion, flesh at v could move
//     s_v = r_v / sqrt(sum over modes of (e_k |U_kv|)^2)
// times as far as in that motion, whose modes are not all in step. The cap of a mode is e_k times a low s_v of the
// vertices that it moves, SHARE of its energy on the skin being below, and at most SLACK times the least: with all
// modes at their caps the root of the sum of their squares is within the reach of nearly every vertex, and nowhere
// beyond SLACK times that. The plain sum, all modes in step, is bounded as well, by FARTHEST times the character's
// size.
//
// The reach is the thickness of the flesh: the distance to the nearest node that a bone holds.
#include "modes/modes.h"

#include "base/affine.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A reach lies between these shares of the height: a mesh cannot resolve thinner flesh, and a strand of hair ten times
// as long as its bone need not swing over its whole length.
#define LEAST_REACH 0.01
#define MOST_REACH 0.08
// The lively motion has at least what an acceleration of 1 g leads to.
#define LIVELY 9.80665
// No vertex goes beyond this share of the character's largest side, whatever moves it.
#define FARTHEST 0.3
// Where a mode moves a vertex by less than this share of its largest displacement, that vertex does not limit it.
#define EDGE 0.2
// Few vertices at the edge of a bone, where the mesh is too coarse for thin flesh, shall not hold a whole mode.
#define SHARE 0.1
#define SLACK 2.0
// The shortest distances are of this many metres: caps of modes that nothing excites stay above 0.
#define SHORTEST 1e-4

static double LargestSide(const jnaCharacter* c)
{
    double most = 0;
    for (size_t a = 0; a < 3; ++a) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t v = 0; v < (size_t)c->vertexCount; ++v) {
            low = fmin(low, (double)c->positions[3 * v + a]);
            high = fmax(high, (double)c->positions[3 * v + a]);
        }
        most = fmax(most, high - low);
    }
    return most;
}

jnResult jnaFindReach(const jnaVolume* v, const jnaCharacter* c, float* reach, jnError* error)
{
    if (v->heldBy == NULL) {
        return jnFail(error, jn_badArgument, "the volume has no bones; run jounce tetrahedralize");
    }
    double height = jnaHeightOf(c);
    double* bones = malloc(((size_t)v->nodeCount + 1) * 3 * sizeof(double));
    if (bones == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the thickness of the flesh");
    }
    size_t count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] >= 0) {
            memcpy(bones + 3 * count++, v->nodes + 3 * (size_t)n, 3 * sizeof(double));
        }
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->vertexCount; ++i) {
        const float* x = c->positions + 3 * (size_t)i;
        double least = HUGE_VAL;
        for (size_t n = 0; n < count; ++n) {
            double dx = (double)x[0] - bones[3 * n], dy = (double)x[1] - bones[3 * n + 1];
            double dz = (double)x[2] - bones[3 * n + 2];
            least = fmin(least, dx * dx + dy * dy + dz * dz);
        }
        reach[i] = (float)fmin(fmax(sqrt(least), LEAST_REACH * height), MOST_REACH * height);
    }
    free(bones);
    return jn_ok;
}

// Where a joint is in the rest pose.
static void FindJoint(const jnaJoint* joint, double* place)
{
    jnaAffine bind = jnaAffine_FromFloats(joint->inverseBind), global = jnaAffine_Identity();
    (void)jnaAffine_Invert(&bind, &global);
    for (int i = 0; i < 3; ++i) {
        place[i] = global.m[4 * i + 3];
    }
}

// The distance of a point to the line from a to b, squared.
static double FindDistance(const double* a, const double* b, const float* x)
{
    double along = 0, length = 0, square = 0;
    for (int i = 0; i < 3; ++i) {
        along += (b[i] - a[i]) * ((double)x[i] - a[i]);
        length += (b[i] - a[i]) * (b[i] - a[i]);
    }
    double part = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (int i = 0; i < 3; ++i) {
        double away = (double)x[i] - a[i] - part * (b[i] - a[i]);
        square += away * away;
    }
    return square;
}

void jnaFindSkeletonReach(const jnaCharacter* c, float* reach)
{
    double height = jnaHeightOf(c);
    for (int v = 0; v < c->vertexCount; ++v) {
        reach[v] = (float)(MOST_REACH * height);
    }
    for (int j = 0; j < c->jointCount; ++j) {
        double a[3], b[3];
        FindJoint(&c->joints[j], a);
        FindJoint(&c->joints[c->joints[j].parent >= 0 ? c->joints[j].parent : j], b);
        for (int v = 0; v < c->vertexCount; ++v) {
            double away = sqrt(FindDistance(a, b, c->positions + 3 * (size_t)v));
            reach[v] = (float)fmin((double)reach[v], fmax(away, LEAST_REACH * height));
        }
    }
}

// The amplitude of the lively motion: that of the clips, or the response to a sudden acceleration.
static double Expect(const jnaModes* m, size_t k, double peak)
{
    double sum[3] = {0};
    for (size_t i = 0; i < 3 * (size_t)m->vertexCount; ++i) {
        sum[i % 3] += (double)m->projections[k * 3 * (size_t)m->vertexCount + i];
    }
    double drive = LIVELY * fabs(m->gain[k]) * jnaLength(sum);
    return fmax(fmax(peak, m->stiffness[k] > 0 ? drive / m->stiffness[k] : 0), SHORTEST);
}

static double LengthAt(const jnaModes* m, size_t k, size_t v)
{
    const float* u = m->shapes + 3 * (k * (size_t)m->vertexCount + v);
    return sqrt((double)u[0] * (double)u[0] + (double)u[1] * (double)u[1] + (double)u[2] * (double)u[2]);
}

// How much farther than in the lively motion a vertex may go, and how much it counts.
typedef struct Room {
    double times, weight;
} Room;

static int CompareRooms(const void* a, const void* b)
{
    double x = ((const Room*)a)->times, y = ((const Room*)b)->times;
    return x < y ? -1 : x > y;
}

// How much farther a mode may go. times: [vertexCount], of the vertices; rooms: [vertexCount], scratch. 0: it moves
// nothing.
static double FindRoom(const jnaModes* m, size_t k, const double* times, Room* rooms)
{
    size_t count = 0, at = 0;
    double whole = 0, sum = 0;
    for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
        double length = LengthAt(m, k, v);
        if (length >= EDGE) {
            rooms[count++] = (Room){times[v], length * length};
            whole += length * length;
        }
    }
    if (count == 0) {
        return 0;
    }
    qsort(rooms, count, sizeof(*rooms), CompareRooms);
    while (at + 1 < count && sum + rooms[at].weight < SHARE * whole) {
        sum += rooms[at++].weight;
    }
    return fmin(rooms[at].times, SLACK * rooms[0].times);
}

// The same for the plain sum of what all modes move a vertex by. farthest: metres; sums: [vertexCount], of the lively
// motion.
static double FindRoomInStep(const jnaModes* m, size_t k, const double* sums, double farthest)
{
    double most = 0;
    for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
        most = LengthAt(m, k, v) >= EDGE ? fmax(most, sums[v]) : most;
    }
    return most > 0 ? farthest / most : 0;
}

jnResult jnaModes_SetCaps(jnaModes* m, const jnaCharacter* c, const float* reach, const double* peaks, jnError* error)
{
    size_t modes = (size_t)m->modeCount, vertices = (size_t)m->vertexCount;
    memset(m->caps, 0, modes * sizeof(double));
    if (reach == NULL) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* times = jnaArena_Take(&arena, m->vertexCount, sizeof(double));
    double* sums = jnaArena_Take(&arena, m->vertexCount, sizeof(double));
    double* expected = jnaArena_Take(&arena, m->modeCount, sizeof(double));
    Room* rooms = jnaArena_Take(&arena, m->vertexCount, sizeof(*rooms));
    JN_TRY(jnaArena_Check(&arena, "the caps of modes", error));
    double farthest = FARTHEST * LargestSide(c);
    for (size_t k = 0; k < modes; ++k) {
        expected[k] = Expect(m, k, peaks[k]);
        for (size_t v = 0; v < vertices; ++v) {
            double length = expected[k] * LengthAt(m, k, v);
            times[v] += length * length;
            sums[v] += length;
        }
    }
    for (size_t v = 0; v < vertices; ++v) {
        times[v] = times[v] > 0 ? (double)reach[v] / sqrt(times[v]) : HUGE_VAL;
    }
    for (size_t k = 0; k < modes; ++k) {
        double room = fmin(FindRoom(m, k, times, rooms), FindRoomInStep(m, k, sums, farthest));
        m->caps[k] = room > 0 ? fmax(expected[k] * room, SHORTEST) : 0;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
