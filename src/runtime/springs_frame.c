// The simulation's own space. Springs that are to feel only a share s of the root's motion live in a space
// that makes the other share, 1 - s, along with the root; what is left to feel is the difference. Samples are
// taken into that space and results brought back, so the springs themselves know nothing of it.
#include "elementary.h"
#include "springs_internal.h"

#include <math.h>
#include <string.h>

jnPlacement jnIdentityPlacement(void)
{
    return (jnPlacement){.rotation = {0, 0, 0, 1}};
}

static void Multiply(const double a[4], const double b[4], double out[4])
{
    double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    double scale = 1.0 / sqrt(x * x + y * y + z * z + w * w);
    out[0] = x * scale;
    out[1] = y * scale;
    out[2] = z * scale;
    out[3] = w * scale;
}

static void Rotate(const double q[4], const double v[3], double out[3])
{
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    double r[3] = {v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1], v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2],
        v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0]};
    memcpy(out, r, sizeof(r));
}

// Rotation vector of a unit quaternion, the short way round.
static void Logarithm(const double q[4], double angle[3])
{
    double sign = q[3] < 0 ? -1.0 : 1.0;
    double sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    double scale = sine > 1e-12 ? 2.0 * jnQuadrantAngle(sine, sign * q[3]) / sine : 2.0;
    for (int i = 0; i < 3; ++i) {
        angle[i] = sign * scale * q[i];
    }
}

static void Exponential(const double angle[3], double share, double q[4])
{
    double length = share * sqrt(angle[0] * angle[0] + angle[1] * angle[1] + angle[2] * angle[2]);
    double sine, cosine;
    jnSinCos(0.5 * length, &sine, &cosine);
    double scale = fabs(length) > 1e-12 ? sine / length * share : 0.5 * share;
    for (int i = 0; i < 3; ++i) {
        q[i] = scale * angle[i];
    }
    q[3] = cosine;
}

bool jnReadRoot(const jnTransform* root, jnPlacement* placement)
{
    float sum = 0.0f, norm = 0.0f;
    for (int i = 0; i < 4; ++i) {
        sum += i < 3 ? fabsf(root->position[i]) : 0.0f;
        norm += root->rotation[i] * root->rotation[i];
    }
    for (int i = 0; i < 4; ++i) {
        placement->position[i % 3] = (double)root->position[i % 3];
        placement->rotation[i] = (double)root->rotation[i];
    }
    return sum <= JN_LARGEST_STATE && norm > 0.25f && norm < 4.0f;
}

// The placement reached by following the share `u` of a motion.
jnPlacement jnFollowSpace(const jnSpaceMotion* motion, double u)
{
    double q[4], arm[3];
    Exponential(motion->angle, u, q);
    jnPlacement out;
    Multiply(q, motion->from.rotation, out.rotation);
    for (int i = 0; i < 3; ++i) {
        arm[i] = motion->from.position[i] - motion->pivot[i];
    }
    Rotate(q, arm, arm);
    for (int i = 0; i < 3; ++i) {
        out.position[i] = motion->pivot[i] + u * motion->shift[i] + arm[i];
    }
    return out;
}

// The motion of the space that belongs to a step of the root: `share` of its translation and rotation.
static jnSpaceMotion MotionOfRoot(
    const jnPlacement* from, const jnPlacement* to, const double share[2], jnPlacement start)
{
    jnSpaceMotion motion = {.from = start};
    double before[4], after[4], turn[4];
    for (int i = 0; i < 4; ++i) {
        before[i] = i < 3 ? -from->rotation[i] : from->rotation[i];
        after[i] = to->rotation[i];
    }
    Multiply(after, before, turn);
    Logarithm(turn, motion.angle);
    for (int i = 0; i < 3; ++i) {
        motion.angle[i] *= share[1];
        motion.pivot[i] = from->position[i];
        motion.shift[i] = share[0] * (to->position[i] - from->position[i]);
    }
    motion.to = jnFollowSpace(&motion, 1.0);
    return motion;
}

static bool IsMoving(const jnSpaceMotion* motion)
{
    for (int i = 0; i < 3; ++i) {
        if (motion->angle[i] != 0.0 || motion->shift[i] != 0.0) {
            return true;
        }
    }
    return false;
}

void jnRestSpace(jnSpaceMotion* motion)
{
    *motion = (jnSpaceMotion){.from = motion->to, .to = motion->to};
}

const jnSpaceMotion* jnShownSpace(const jnSpringsClock* clock)
{
    return clock->base == clock->newest ? &clock->space.newest : &clock->space.base;
}

void jnMoveSpace(jnSpace* space, const float inertia[2], const jnPlacement* root, jnRootMotion kind)
{
    jnSpaceMotion motion = {.from = space->newest.to, .to = space->newest.to};
    jnSpaceMotion base = space->base;
    if (root != NULL) {
        double share[2] = {1.0 - (double)inertia[0], 1.0 - (double)inertia[1]};
        if (kind != jn_rootFelt) {
            share[0] = share[1] = 1.0;
        }
        if (space->hasRoot && (share[0] != 0.0 || share[1] != 0.0)) {
            motion = MotionOfRoot(&space->root, root, share, motion.to);
            base = MotionOfRoot(&space->root, root, share, base.to);
        }
        space->root = *root;
        space->hasRoot = true;
    }
    bool moving = IsMoving(&motion);
    space->moved = space->moved || moving;
    if (kind == jn_rootPaused) {
        // No sample is taken: what is there is carried along, and only if there is anywhere to go.
        if (moving) {
            jnRestSpace(&motion);
            jnRestSpace(&base);
            space->newest = motion;
            space->base = base;
        }
        return;
    }
    if (kind == jn_rootCarried) {
        jnRestSpace(&motion); // the jump is nobody's velocity
    }
    space->base = space->newest;
    space->newest = motion;
}

static void ShiftMotion(jnSpaceMotion* motion, bool moved, const double shift[3])
{
    for (int i = 0; i < 3; ++i) {
        motion->pivot[i] += shift[i];
        motion->from.position[i] += moved ? shift[i] : 0.0;
        motion->to.position[i] += moved ? shift[i] : 0.0;
    }
}

void jnSprings_Shift(jnSprings* s, const double shift[3])
{
    jnSpace* space = &s->clock.space;
    bool moved = space->moved != 0; // samples are in the simulation's own space then, which moves as a whole
    for (size_t i = 0; !moved && i < (size_t)s->blockCount * JN_FIELD_SIZE; ++i) {
        float own = (float)shift[i / JN_LANES % 3];
        for (int slot = 0; slot < JN_HISTORY; ++slot) {
            s->samples[slot][i] += own;
        }
    }
    ShiftMotion(&space->newest, moved, shift);
    ShiftMotion(&space->base, moved, shift);
    for (int i = 0; i < 3; ++i) {
        space->root.position[i] += shift[i];
    }
}

void jnToSpace(const jnSpringsClock* clock, const float world[3], float local[3])
{
    memcpy(local, world, 3 * sizeof(float));
    if (clock->space.moved) {
        jnFrame toSpace = jnSpaceFromWorld(&jnShownSpace(clock)->to);
        jnRotateVector(toSpace.rotation, world, local);
    }
}

static void MatrixOf(const double q[4], float m[9])
{
    for (int column = 0; column < 3; ++column) {
        double axis[3] = {column == 0, column == 1, column == 2};
        Rotate(q, axis, axis);
        for (int row = 0; row < 3; ++row) {
            m[3 * row + column] = (float)axis[row];
        }
    }
}

jnFrame jnSpaceFromWorld(const jnPlacement* placement)
{
    jnFrame frame = {0};
    double inverse[4] = {
        -placement->rotation[0], -placement->rotation[1], -placement->rotation[2], placement->rotation[3]};
    double moved[3];
    Rotate(inverse, placement->position, moved);
    MatrixOf(inverse, frame.rotation);
    for (int i = 0; i < 3; ++i) {
        frame.translation[i] = (float)-moved[i];
    }
    return frame;
}

jnFrame jnWorldFromSpace(const jnSpaceMotion* motion, double fraction, double h)
{
    jnPlacement at = jnFollowSpace(motion, fraction);
    jnFrame frame = {0};
    MatrixOf(at.rotation, frame.rotation);
    double rate = h > 0.0 ? 1.0 / h : 0.0;
    for (int i = 0; i < 3; ++i) {
        frame.translation[i] = (float)at.position[i];
        frame.spin[i] = (float)(motion->angle[i] * rate);
        frame.pivot[i] = (float)(motion->pivot[i] + fraction * motion->shift[i]);
        frame.drift[i] = (float)(motion->shift[i] * rate);
    }
    return frame;
}
