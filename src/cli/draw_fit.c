// The second picture of jounce springs draw: a spring fitted to a motion with a few bad frames, before and after these
// are left out, as the paper's figure on robust training shows it.
#include "base/affine.h"
#include "base/try.h"
#include "draw.h"
#include "draw/chart.h"
#include "jounce/jounce.h"
#include "learn/spring_fit.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum { FRAMES = 75, FIRST_BAD = 31, LAST_BAD = 34 };
#define RATE 30.0

// What the bad frames are off by, metres: quick and large, like a contact that did not converge.
static const float bursts[LAST_BAD - FIRST_BAD + 1] = {0.05f, -0.03f, 0.05f, 0.04f};

typedef struct Scene {
    float targets[FRAMES][3], simulated[FRAMES][3];
    double time[FRAMES];
    double observed[3][FRAMES], fitted[2][3][FRAMES]; // offsets from the target, centimetres
    double error[2][FRAMES];                          // distance from the motion to learn, millimetres
    double stiffness[2], damping[2];
} Scene;

// The belly in jumping jacks: up and down twice a second, a little to the sides and forward.
static void FillTargets(Scene* scene)
{
    for (int n = 0; n < FRAMES; ++n) {
        double t = n / RATE, jump = JNA_TURN * 1.6 * t;
        scene->time[n] = n;
        scene->targets[n][0] = (float)(0.03 * sin(0.5 * jump) + 0.01 * sin(1.5 * jump));
        scene->targets[n][1] = (float)(1.1 + 0.12 * fabs(sin(0.5 * jump)) + 0.02 * sin(2 * jump));
        scene->targets[n][2] = (float)(0.15 + 0.02 * cos(jump));
    }
}

// Fits with or without the worst tenth of the frames and traces what the spring then does.
static jnResult FitSpring(Scene* scene, int row, jnError* error)
{
    const jnaArray shape = {.scalar = jna_float32, .dimensions = 3, .shape = {FRAMES, 1, 3}, .count = FRAMES * 3};
    jnaSequence sequence = {shape, shape};
    sequence.targets.data = scene->targets;
    sequence.dynamics.data = scene->simulated;
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = &sequence;
    def.sequenceCount = 1;
    def.dt = (double)(float)(1 / RATE);
    def.drop = row == 0 ? 0.0 : 0.1;
    jnaFit fit;
    jnResult result = jnaFitSprings(&def, &fit, error);
    if (result != jn_ok) {
        return result;
    }
    scene->stiffness[row] = (double)fit.stiffness[0];
    scene->damping[row] = (double)fit.damping[0];
    jnaDestroyFit(&fit);
    float out[FRAMES][3];
    result =
        jnaRunSpring(scene->targets[0], FRAMES, 1 / RATE, scene->stiffness[row], scene->damping[row], out[0], error);
    for (int n = 0; n < FRAMES && result == jn_ok; ++n) {
        double square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double target = (double)scene->targets[n][axis];
            scene->observed[axis][n] = 100 * ((double)scene->simulated[n][axis] - target);
            scene->fitted[row][axis][n] = 100 * ((double)out[n][axis] - target);
            square += pow(scene->fitted[row][axis][n] - scene->observed[axis][n], 2);
        }
        scene->error[row][n] = 10 * sqrt(square);
    }
    return result;
}

static jnResult Draw(const char* path, Scene* scene, double stiffness, double damping, jnError* error)
{
    static const char* const axes[3] = {"x", "y", "z"};
    static const double ranges[3] = {1.2, 4.5, 1.2}; // the bad frames may leave the chart
    jnaSeries series[2][4][2];
    jnaChart charts[8];
    char titles[2][4][96];
    for (int row = 0; row < 2; ++row) {
        for (int k = 0; k < 3; ++k) {
            series[row][k][0] =
                (jnaSeries){"motion to learn", scene->time, scene->observed[k], FRAMES, 0x1c7ed6, 1.6, false};
            series[row][k][1] =
                (jnaSeries){"fitted spring", scene->time, scene->fitted[row][k], FRAMES, 0xe8590c, 1.6, false};
            snprintf(titles[row][k], sizeof(titles[row][k]), "%s, %s", axes[k],
                row == 0 ? "all frames" : "worst 10 % left out");
            charts[4 * row + k] = (jnaChart){.title = titles[row][k],
                .xLabel = "frame",
                .yLabel = "offset, cm",
                .series = series[row][k],
                .seriesCount = 2,
                .yRange = {-ranges[k], ranges[k]}};
        }
        snprintf(titles[row][3], sizeof(titles[row][3]), "error (stiffness %.0f, damping %.1f)", scene->stiffness[row],
            scene->damping[row]);
        series[row][3][0] = (jnaSeries){NULL, scene->time, scene->error[row], FRAMES, 0x495057, 1.6, false};
        charts[4 * row + 3] = (jnaChart){.title = titles[row][3],
            .xLabel = "frame",
            .yLabel = "error, mm",
            .series = series[row][3],
            .seriesCount = 1,
            .yRange = {0, 12}};
    }
    char title[160];
    snprintf(title, sizeof(title),
        "Robust fit: frames %d to %d are wrong by up to 5 cm; the spring behind the motion has stiffness %.0f, damping "
        "%.1f",
        FIRST_BAD, LAST_BAD, stiffness, damping);
    jnaSheet sheet = {title, charts, 8, 4, 400, 280};
    return jnaWriteSheet(path, &sheet, error);
}

jnResult jncDrawRobustFit(const char* path, jnError* error)
{
    static Scene scene;
    double stiffness = (double)jnStiffnessFromHertz(4.5f), damping = (double)jnDampingFromRatio(4.5f, 0.15f);
    FillTargets(&scene);
    JN_PASS(jnaRunSpring(scene.targets[0], FRAMES, 1 / RATE, stiffness, damping, scene.simulated[0], error));
    for (int n = FIRST_BAD; n <= LAST_BAD; ++n) {
        for (int axis = 0; axis < 3; ++axis) {
            scene.simulated[n][axis] += bursts[n - FIRST_BAD];
        }
    }
    for (int row = 0; row < 2; ++row) {
        JN_PASS(FitSpring(&scene, row, error));
    }
    return Draw(path, &scene, stiffness, damping, error);
}
