// The figure's shape: rounded solids, one per volume of flesh, joined by smooth unions.
//
//   f = min(a, b) - h^3 k / 6,   h = max(k - |a - b|, 0) / k
//
// is a union that is twice differentiable, with a fillet of about k. The body is symmetric in x; parts of one
// side are evaluated at s(x) = sqrt(x^2 + e^2), which has no corner at x = 0, so that left and right meet
// without a crease.
#include "character/figure_internal.h"

typedef enum Kind {
    ellipsoid, // a: centre, b: radii, turned by `tilt` in the x-y plane
    cone,      // rounded cone from a to b with radii ra, rb
} Kind;

typedef struct Solid {
    Kind kind;
    bool paired;  // one on each side
    double blend; // k of the union with what came before
    double a[3], b[3];
    double ra, rb;
    double tilt[2]; // cosine, sine; 0, 0 for none
} Solid;

const FigureJoint jnaFigureJoints[JOINT_COUNT] = {
    {"Hips", -1, {0, 0.930, -0.010}},
    {"Spine", HIPS, {0, 1.040, -0.015}},
    {"Spine1", SPINE, {0, 1.190, -0.020}},
    {"Neck", SPINE1, {0, 1.420, -0.022}},
    {"Head", NECK, {0, 1.490, -0.008}},
    {"LeftShoulder", SPINE1, {0.045, 1.375, -0.015}},
    {"LeftArm", LEFT_SHOULDER, {0.190, 1.350, -0.022}},
    {"LeftForeArm", LEFT_ARM, {0.405, 1.170, -0.025}},
    {"LeftHand", LEFT_FOREARM, {0.592, 1.013, -0.005}},
    {"RightShoulder", SPINE1, {-0.045, 1.375, -0.015}},
    {"RightArm", RIGHT_SHOULDER, {-0.190, 1.350, -0.022}},
    {"RightForeArm", RIGHT_ARM, {-0.405, 1.170, -0.025}},
    {"RightHand", RIGHT_FOREARM, {-0.592, 1.013, -0.005}},
    {"LeftUpLeg", HIPS, {0.112, 0.880, -0.005}},
    {"LeftLeg", LEFT_UP_LEG, {0.158, 0.475, 0.005}},
    {"LeftFoot", LEFT_LEG, {0.190, 0.085, -0.030}},
    {"LeftToeBase", LEFT_FOOT, {0.212, 0.030, 0.095}},
    {"RightUpLeg", HIPS, {-0.112, 0.880, -0.005}},
    {"RightLeg", RIGHT_UP_LEG, {-0.158, 0.475, 0.005}},
    {"RightFoot", RIGHT_LEG, {-0.190, 0.085, -0.030}},
    {"RightToeBase", RIGHT_FOOT, {-0.212, 0.030, 0.095}},
};

int jnaMirrorJoint(int joint)
{
    if (joint >= LEFT_SHOULDER && joint <= LEFT_HAND) {
        return joint + (RIGHT_SHOULDER - LEFT_SHOULDER);
    }
    if (joint >= RIGHT_SHOULDER && joint <= RIGHT_HAND) {
        return joint - (RIGHT_SHOULDER - LEFT_SHOULDER);
    }
    if (joint >= LEFT_UP_LEG && joint <= LEFT_TOE) {
        return joint + (RIGHT_UP_LEG - LEFT_UP_LEG);
    }
    return joint >= RIGHT_UP_LEG ? joint - (RIGHT_UP_LEG - LEFT_UP_LEG) : joint;
}

// Direction of the hand and of the fingers in the x-y plane.
#define HAND_TILT                                                                                                      \
    {                                                                                                                  \
        0.7660, -0.6428                                                                                                \
    }

static const Solid solids[] = {
    // Trunk.
    {ellipsoid, false, 0, {0, 1.225, -0.012}, {0.180, 0.195, 0.128}, 0, 0, {0, 0}},           // ribs
    {ellipsoid, false, 0.11, {0, 1.035, 0.040}, {0.196, 0.180, 0.172}, 0, 0, {0, 0}},         // belly
    {ellipsoid, false, 0.11, {0, 0.905, -0.012}, {0.192, 0.130, 0.135}, 0, 0, {0, 0}},        // pelvis
    {cone, true, 0.08, {0.024, 1.405, -0.030}, {0.168, 1.350, -0.026}, 0.054, 0.068, {0, 0}}, // shoulder yoke
    {ellipsoid, true, 0.07, {0.084, 1.232, 0.066}, {0.094, 0.078, 0.062}, 0, 0, {0, 0}},      // chest
    {ellipsoid, true, 0.10, {0.115, 1.020, -0.004}, {0.095, 0.110, 0.122}, 0, 0, {0, 0}},     // flanks
    {ellipsoid, true, 0.07, {0.086, 0.868, -0.078}, {0.098, 0.108, 0.092}, 0, 0, {0, 0}},     // buttocks
    // Legs.
    {cone, true, 0.07, {0.120, 0.830, 0.002}, {0.156, 0.500, 0.008}, 0.104, 0.066, {0, 0}},
    {ellipsoid, true, 0.06, {0.137, 0.690, 0.012}, {0.096, 0.175, 0.104}, 0, 0, {0, 0}}, // thigh
    {cone, true, 0.015, {0.156, 0.500, 0.008}, {0.188, 0.110, -0.030}, 0.066, 0.046, {0, 0}},
    {ellipsoid, true, 0.06, {0.169, 0.350, -0.026}, {0.064, 0.135, 0.062}, 0, 0, {0, 0}}, // calf
    // Feet.
    {cone, true, 0.04, {0.190, 0.045, -0.048}, {0.212, 0.032, 0.090}, 0.047, 0.046, {0, 0}},
    {cone, true, 0.03, {0.205, 0.078, 0.000}, {0.214, 0.030, 0.085}, 0.040, 0.048, {0, 0}},
    {ellipsoid, true, 0.03, {0.216, 0.028, 0.118}, {0.053, 0.037, 0.064}, 0, 0, {0, 0}},
    // Arms.
    {cone, true, 0.08, {0.190, 1.340, -0.022}, {0.402, 1.170, -0.025}, 0.070, 0.053, {0, 0}},
    {ellipsoid, true, 0.05, {0.285, 1.262, -0.022}, {0.115, 0.064, 0.067}, 0, 0, HAND_TILT}, // upper arm
    {cone, true, 0.015, {0.402, 1.170, -0.025}, {0.585, 1.018, -0.006}, 0.053, 0.039, {0, 0}},
    {ellipsoid, true, 0.05, {0.460, 1.122, -0.020}, {0.090, 0.055, 0.057}, 0, 0, HAND_TILT}, // forearm
    // Hands: a palm, the fingers together, a thumb in front.
    {ellipsoid, true, 0.035, {0.637, 0.975, 0.002}, {0.062, 0.036, 0.053}, 0, 0, HAND_TILT},
    {ellipsoid, true, 0.030, {0.694, 0.927, 0.004}, {0.062, 0.033, 0.052}, 0, 0, HAND_TILT},
    {cone, true, 0.030, {0.618, 0.986, 0.028}, {0.654, 0.952, 0.108}, 0.026, 0.025, {0, 0}},
    // Neck and head.
    {cone, false, 0.07, {0, 1.385, -0.028}, {0, 1.500, -0.010}, 0.066, 0.060, {0, 0}},
    {ellipsoid, false, 0.035, {0, 1.602, 0.002}, {0.110, 0.120, 0.119}, 0, 0, {0, 0}},     // skull
    {ellipsoid, false, 0.05, {0, 1.541, 0.022}, {0.097, 0.084, 0.096}, 0, 0, {0, 0}},      // jaw
    {ellipsoid, false, 0.022, {0, 1.562, 0.120}, {0.016, 0.016, 0.018}, 0, 0, {0, 0}},     // nose
    {ellipsoid, true, 0.020, {0.114, 1.575, -0.006}, {0.015, 0.032, 0.023}, 0, 0, {0, 0}}, // ears
};
enum { SOLID_COUNT = sizeof(solids) / sizeof(solids[0]) };

// e of the rounding at x = 0, in metres.
#define MIDDLE_ROUNDING 0.010
// Fillet between the feet and the flat of the soles, in metres.
#define SOLE_ROUNDING 0.018

static const double EYE[2] = {0.039, 1.593}, EYE_RADII[2] = {0.0125, 0.0165};
static const double WAIST[2] = {0.950, -0.28}, HEM = 0.615;

static double SmoothMin(double a, double b, double k)
{
    double difference = a > b ? a - b : b - a;
    double h = difference < k ? (k - difference) / k : 0;
    return (a < b ? a : b) - h * h * h * k / 6;
}

// Distance to an ellipsoid: exact on the surface, first order around it.
static double EllipsoidDistance(const Solid* s, const double p[3])
{
    double d[3] = {p[0] - s->a[0], p[1] - s->a[1], p[2] - s->a[2]};
    if (s->tilt[0] != 0) {
        double x = s->tilt[0] * d[0] + s->tilt[1] * d[1];
        double y = -s->tilt[1] * d[0] + s->tilt[0] * d[1];
        d[0] = x;
        d[1] = y;
    }
    double first = 0, second = 0;
    for (int i = 0; i < 3; ++i) {
        double q = d[i] / s->b[i];
        first += q * q;
        second += (q / s->b[i]) * (q / s->b[i]);
    }
    first = sqrt(first);
    second = sqrt(second);
    // At the centre both vanish; the smallest radius is near enough there.
    return second > 0 ? first * (first - 1) / second : -s->b[0];
}

// Distance to the surface swept by a sphere whose radius changes evenly from a to b.
static double ConeDistance(const Solid* s, const double p[3])
{
    double axis[3] = {s->b[0] - s->a[0], s->b[1] - s->a[1], s->b[2] - s->a[2]};
    double d[3] = {p[0] - s->a[0], p[1] - s->a[1], p[2] - s->a[2]};
    double square = jnaDot(axis, axis);
    double narrowing = s->ra - s->rb;
    double along = jnaDot(d, axis) / square;
    double off[3] = {d[0] - along * axis[0], d[1] - along * axis[1], d[2] - along * axis[2]};
    double across = jnaLength(off);
    double length = sqrt(square);
    // The closest sphere is the one whose normal to the slanted side passes through p.
    double t = along + narrowing * across / (length * sqrt(square - narrowing * narrowing));
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double beyond = (along - t) * length;
    return sqrt(across * across + beyond * beyond) - (s->ra - t * narrowing);
}

// What covers the skin at p: the sign of a function that is a distance, roughly, along the surface.
double jnaFigureBorder(const double p[3])
{
    double x = p[0] < 0 ? -p[0] : p[0];
    if (p[1] > 1.45) {
        double u = (x - EYE[0]) / EYE_RADII[0], v = (p[1] - EYE[1]) / EYE_RADII[1];
        return p[2] > 0 ? (sqrt(u * u + v * v) - 1) * EYE_RADII[0] : 1;
    }
    // Shorts: from a waistband that dips under the belly to the middle of the thighs.
    double waist = p[1] - (WAIST[0] + WAIST[1] * p[2]);
    double hem = HEM - p[1];
    return x > 0.34 ? 1 : waist > hem ? waist : hem;
}

// Whether a solid is surely farther than `far` >= 0 from p, by a ball around it. An ellipsoid's distance is at least
// its smallest radius times what the point is outside of the ball, in parts of the largest.
static bool IsBeyond(const Solid* s, const double p[3], double far)
{
    double center[3], reach;
    for (int i = 0; i < 3; ++i) {
        center[i] = p[i] - (s->kind == ellipsoid ? s->a[i] : 0.5 * (s->a[i] + s->b[i]));
    }
    if (s->kind == ellipsoid) {
        const double* b = s->b;
        double least = b[0] < b[1] ? b[0] : b[1], most = b[0] > b[1] ? b[0] : b[1];
        least = least < b[2] ? least : b[2];
        most = most > b[2] ? most : b[2];
        reach = most * (1 + far / least);
    } else {
        double half = 0.5 * (fabs(s->b[0] - s->a[0]) + fabs(s->b[1] - s->a[1]) + fabs(s->b[2] - s->a[2]));
        reach = half + (s->ra > s->rb ? s->ra : s->rb) + far;
    }
    return jnaDot(center, center) > 1.0001 * reach * reach;
}

double jnaFigureDistance(const double p[3])
{
    double folded[3] = {sqrt(p[0] * p[0] + MIDDLE_ROUNDING * MIDDLE_ROUNDING), p[1], p[2]};
    double middle[3] = {p[0], p[1], p[2]};
    double f = 1e9;
    for (int i = 0; i < SOLID_COUNT; ++i) {
        const Solid* s = &solids[i];
        const double* q = s->paired ? folded : middle;
        // A union with what is farther than the blend changes nothing.
        if (i > 0 && IsBeyond(s, q, f + s->blend > 0 ? f + s->blend : 0)) {
            continue;
        }
        double d = s->kind == ellipsoid ? EllipsoidDistance(s, q) : ConeDistance(s, q);
        f = i == 0 ? d : SmoothMin(f, d, s->blend);
    }
    return -SmoothMin(-f, p[1], SOLE_ROUNDING);
}

double jnaFigureGradient(const double p[3], double normal[3])
{
    // Differences along the corners of a tetrahedron: four values give value and gradient.
    static const double corners[4][3] = {{1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, 1}};
    const double step = 2e-4;
    double sum = 0, g[3] = {0, 0, 0};
    for (int c = 0; c < 4; ++c) {
        double q[3] = {p[0] + step * corners[c][0], p[1] + step * corners[c][1], p[2] + step * corners[c][2]};
        double f = jnaFigureDistance(q);
        sum += 0.25 * f;
        for (int i = 0; i < 3; ++i) {
            g[i] += f * corners[c][i];
        }
    }
    double length = jnaLength(g);
    for (int i = 0; i < 3; ++i) {
        normal[i] = length > 0 ? g[i] / length : 0;
    }
    // The slope matters where unions flatten the function: a plain step would then fall short.
    double slope = length / (4 * step);
    return slope > 0.2 ? sum / slope : sum / 0.2;
}
