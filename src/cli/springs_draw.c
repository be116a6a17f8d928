// jounce springs draw: a small moving target, springs in the three damping regimes on it, and a picture of both.
#include "cli.h"
#include "draw.h"

#include "base/affine.h"
#include "base/try.h"
#include "draw/chart.h"
#include "jounce/jounce.h"

#include "runtime/for_author.h"

#include <math.h>

enum { FRAMES = 181, SUBSTEPS = 8, REGIMES = 3, POINTS = (FRAMES - 1) * SUBSTEPS + 1 };
#define FRAME_RATE 30.0
#define HERTZ 2.5f

static const struct {
    const char* name;
    float ratio;
    uint32_t color;
} regimes[REGIMES] = {
    {"underdamped, ratio 0.12", 0.12f, 0xd9480f},
    {"critically damped, ratio 1", 1.0f, 0x1c7ed6},
    {"overdamped, ratio 3", 3.0f, 0x2b8a3e},
};

typedef struct Trace {
    double time[POINTS], target[POINTS], position[REGIMES][POINTS], offset[REGIMES][POINTS];
} Trace;

// Three hops of 0.25 m with a rest between them, then stillness.
static float TargetHeight(double t)
{
    double phase = t < 4.0 ? fmod(t, 1.6) : 1.0;
    return phase < 0.8 ? (float)(0.125 * (1 - cos(JNA_TURN * phase / 0.8))) : 0.0f;
}

// Steps at the frame rate and looks into each interval at SUBSTEPS times, which changes nothing.
static jnResult Simulate(Trace* trace, jnError* error)
{
    float stiffness[REGIMES], damping[REGIMES];
    for (int r = 0; r < REGIMES; ++r) {
        stiffness[r] = jnStiffnessFromHertz(HERTZ);
        damping[r] = jnDampingFromRatio(HERTZ, regimes[r].ratio);
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = REGIMES;
    def.stiffness = stiffness;
    def.damping = damping;
    jnSprings* springs;
    JN_PASS(jnCreateSprings(&def, &springs, error));
    for (int n = 0; n < FRAMES; ++n) {
        float targets[REGIMES][3] = {{0}}, out[REGIMES][3];
        for (int r = 0; r < REGIMES; ++r) {
            targets[r][1] = TargetHeight(n / FRAME_RATE);
        }
        jnSprings_Step(springs, &(jnSpringsInput){.h = (float)(1 / FRAME_RATE), .targets = targets[0]}, NULL);
        for (int k = n == 0 ? SUBSTEPS : 1; k <= SUBSTEPS; ++k) {
            int i = n == 0 ? 0 : (n - 1) * SUBSTEPS + k;
            jnSprings_Evaluate(springs, (float)k / SUBSTEPS, &(jnSpringsOutput){.positions = out[0]});
            trace->time[i] = i / FRAME_RATE / SUBSTEPS;
            trace->target[i] = (double)TargetHeight(trace->time[i]);
            for (int r = 0; r < REGIMES; ++r) {
                trace->position[r][i] = (double)out[r][1];
                trace->offset[r][i] = 100 * (trace->position[r][i] - trace->target[i]);
            }
        }
    }
    jnDestroySprings(springs);
    return jn_ok;
}

static jnResult DrawTrace(const char* path, const Trace* trace, jnError* error)
{
    jnaSeries heights[REGIMES + 1], offsets[REGIMES];
    heights[0] = (jnaSeries){"target", trace->time, trace->target, POINTS, 0x868e96, 2.4, true};
    for (int r = 0; r < REGIMES; ++r) {
        heights[r + 1] =
            (jnaSeries){regimes[r].name, trace->time, trace->position[r], POINTS, regimes[r].color, 1.8, false};
        offsets[r] = (jnaSeries){regimes[r].name, trace->time, trace->offset[r], POINTS, regimes[r].color, 1.8, false};
    }
    jnaChart charts[2] = {
        {.title = "position",
            .xLabel = "seconds",
            .yLabel = "height, m",
            .series = heights,
            .seriesCount = REGIMES + 1},
        {.title = "offset from the target",
            .xLabel = "seconds",
            .yLabel = "cm",
            .series = offsets,
            .seriesCount = REGIMES},
    };
    jnaSheet sheet = {"Zero-restlength springs at 2.5 Hz on a hopping target", charts, 2, 1, 860, 320};
    return jnaWriteSheet(path, &sheet, error);
}

jnResult jncDrawRegimes(const char* path, jnError* error)
{
    static Trace trace;
    JN_PASS(Simulate(&trace, error));
    return DrawTrace(path, &trace, error);
}

int jncSpringsDraw(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce springs draw [DIR]",
        .about = "Draws examples of springs: DIR/springs.png, the three damping regimes on a hopping target, and "
                 "DIR/fit.png, a\n"
                 "spring fitted to motion with bad frames, with and without the robust refit. Also writes "
                 "DIR/figure.jounce, the\n"
                 "built-in figure with springs set by hand, for jounce view.\n",
        .example = "  jounce springs draw pictures\n",
    };
    const char* folder = ".";
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("DIR", folder, NULL, "output folder (default: the current one)")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    static const struct {
        const char* name;
        const char* what;
        jnResult (*make)(const char* path, jnError* error);
    } products[] = {
        {"springs.png", "springs in the three damping regimes", jncDrawRegimes},
        {"fit.png", "a spring fitted with and without the bad frames", jncDrawRobustFit},
        {"figure.jounce", "the built-in figure with springs set by hand", jncWriteFigure},
    };
    jnError error;
    jnResult result = jncMakeFolder(folder, &error);
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]) && result == jn_ok; ++i) {
        char path[4096];
        int length = snprintf(path, sizeof(path), "%s/%s", folder, products[i].name);
        if (length < 0 || (size_t)length >= sizeof(path)) {
            result = jnFail(&error, jn_badArgument, "the name of the folder is too long");
            break;
        }
        result = products[i].make(path, &error);
        if (result == jn_ok) {
            printf("%s: %s\n", path, products[i].what);
        }
    }
    return jncEnd(result, &error);
}
