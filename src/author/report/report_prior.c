// The prior of springs per vertex over its strength: how much of the layer's magnitude they keep, and how much of the
// motion they capture, seen and unseen. The paper has "smaller magnitude, due to regularization"; here is how much is
// the prior's and how much the model's.
#include "report/report_internal.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Strengths, metres: none, then from what changes nothing to what leaves nothing.
static const double STRENGTHS[] = {0, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
enum { STRENGTH_COUNT = sizeof(STRENGTHS) / sizeof(STRENGTHS[0]) };

// Where "none" is drawn on the logarithmic axis: a decade left of the first strength.
#define NONE_AT (-6.0)

// Sums of squares over vertices and frames: of the layer, of what the springs make of it, of what they leave.
typedef struct Sums {
    double layer, made, left;
} Sums;

typedef struct Curves {
    double x[STRENGTH_COUNT];            // log10 of the strength
    double magnitude[2][STRENGTH_COUNT]; // unseen, seen
    double captured[2][STRENGTH_COUNT];
    bool has[2];
} Curves;

static void AddFrame(const float* target, const float* motion, const float* out, Sums* sums)
{
    double layer = 0, made = 0, left = 0;
    for (int a = 0; a < 3; ++a) {
        layer += pow((double)target[a] - (double)motion[a], 2);
        made += pow((double)target[a] - (double)out[a], 2);
        left += pow((double)out[a] - (double)motion[a], 2);
    }
    if (isfinite(layer + made + left)) {
        *sums = (Sums){sums->layer + layer, sums->made + made, sums->left + left};
    }
}

// Plays all vertices of a sample with their springs. track: [2][frameCount][3].
static jnResult Play(const Report* r, const ReportSamples* s, const ReportSample* sample, const jnaFit* fit,
    float* track, Sums* sums, jnError* error)
{
    size_t vertices = (size_t)s->sizes[sample_spread], frames = (size_t)sample->frameCount;
    float* out = track + 3 * frames;
    for (size_t v = 0; v < vertices; ++v) {
        for (size_t n = 0; n < frames; ++n) {
            memcpy(track + 3 * n, sample->targets[sample_spread] + 3 * (n * vertices + v), 3 * sizeof(float));
        }
        JN_PASS(jnaRunSpring(track, sample->frameCount, 1 / r->manifest->rate, (double)fit->stiffness[v],
            (double)fit->damping[v], out, error));
        for (size_t n = 0; n < frames; ++n) {
            AddFrame(track + 3 * n, sample->motion[sample_spread] + 3 * (n * vertices + v), out + 3 * n, sums);
        }
    }
    return jn_ok;
}

// What is fitted, and room to play it.
typedef struct Lessons {
    jnaSequence* list;
    int count;
    float* track;
} Lessons;

static jnResult Measure(
    const Report* r, const ReportSamples* s, const Lessons* lessons, int index, Curves* curves, jnError* error)
{
    jnaFit fit = {0};
    Sums sums[2] = {{0}};
    // Without dropping: the frames are the same for all strengths.
    jnResult result = jn_ok;
    JN_TRY(jnaReport_Fit(r, lessons->list, lessons->count, 0, STRENGTHS[index], &fit, error));
    for (int i = 0; i < s->count; ++i) {
        JN_TRY(Play(r, s, &s->list[i], &fit, lessons->track, &sums[s->list[i].trained], error));
    }
    curves->x[index] = STRENGTHS[index] > 0 ? log10(STRENGTHS[index]) : NONE_AT;
    for (int seen = 0; seen < 2; ++seen) {
        curves->has[seen] = sums[seen].layer > 0;
        curves->magnitude[seen][index] = curves->has[seen] ? sqrt(sums[seen].made / sums[seen].layer) : (double)NAN;
        curves->captured[seen][index] = curves->has[seen] ? 1 - sums[seen].left / sums[seen].layer : (double)NAN;
    }
done:
    jnaDestroyFit(&fit);
    return result;
}

static void DrawChart(const Report* r, const Curves* c, const char* title, const double values[2][STRENGTH_COUNT])
{
    jnaSeries series[2];
    int count = 0;
    for (int seen = 1; seen >= 0; --seen) {
        if (c->has[seen]) {
            series[count++] = (jnaSeries){
                .x = c->x, .y = values[seen], .count = STRENGTH_COUNT, .color = seen != 0 ? 0x2f83d0 : 0xf08c1e};
        }
    }
    jnaChart chart = {.title = title,
        .xLabel = "log10 of the prior, metres; far left: none",
        .yLabel = "",
        .series = series,
        .seriesCount = count};
    fputs("<div>", r->out);
    jnaReport_Chart(r->out, &chart, NULL, 420, 230);
    fputs("</div>\n", r->out);
}

static void WriteTable(const Report* r, const Curves* c)
{
    fputs("<details><summary>Numbers</summary><div class=\"wide\"><table id=\"prior-numbers\"><tr><th>prior, "
          "mm</th><th>magnitude, "
          "seen</th><th>unseen</th><th>captured, seen</th><th>unseen</th></tr>\n",
        r->out);
    for (int i = 0; i < STRENGTH_COUNT; ++i) {
        const double cells[4] = {c->magnitude[1][i], c->magnitude[0][i], c->captured[1][i], c->captured[0][i]};
        fprintf(r->out, "<tr><td>%g</td>", 1e3 * STRENGTHS[i]);
        for (int k = 0; k < 4; ++k) {
            fprintf(r->out, isfinite(cells[k]) ? "<td>%.3f</td>" : "<td>–</td>", cells[k]);
        }
        fputs("</tr>\n", r->out);
    }
    fputs("</table></div></details>\n", r->out);
}

static void DrawCurves(Report* r, const ReportSamples* s, const Curves* c)
{
    double used = jnaDefaultFitDef().prior;
    const json_t* given = json_object_get(r->fit, "prior");
    used = json_is_number(given) ? json_number_value(given) : used;
    fputs(
        "<figure id=\"prior\"><h3>What a prior does to springs per vertex</h3>\n<p>The paper finds springs of smaller "
        "magnitude than the flesh, “due to regularization”. A prior moves springs that the motion hardly "
        "determines towards a stiff one. <b>Magnitude</b> is the root mean square of the springs' offset from the "
        "target "
        "over that of the simulated flesh.</p>\n<p class=\"keys\">",
        r->out);
    for (int seen = 1; seen >= 0; --seen) {
        if (c->has[seen]) {
            jnaReport_Key(r->out, seen != 0 ? 0x2f83d0 : 0xf08c1e, false, seen != 0 ? "seen clips" : "unseen clips");
        }
    }
    fputs("</p>\n<div class=\"row\" style=\"--least:300px\">\n", r->out);
    DrawChart(r, c, "magnitude", c->magnitude);
    DrawChart(r, c, "captured", c->captured);
    fputs("</div>\n", r->out);
    if (c->has[1] && c->magnitude[1][0] < 1) {
        fprintf(r->out,
            "<p>Without any prior the springs have %.2f of the flesh's magnitude on seen clips: where one spring "
            "cannot "
            "follow the flesh, less motion has a smaller error than more. This is a property of the model, not of the "
            "prior.</p>\n",
            c->magnitude[1][0]);
    }
    fprintf(r->out,
        "<figcaption>%d vertices spread over the body, no frames dropped. The springs of this "
        "workspace were fitted with ",
        s->sizes[sample_spread]);
    if (used > 0) {
        fprintf(r->out, "a prior of %g mm.</figcaption></figure>\n", 1e3 * used);
    } else {
        fputs("no prior.</figcaption></figure>\n", r->out);
    }
    WriteTable(r, c);
}

jnResult jnaReport_Prior(Report* r, const ReportSamples* s, jnError* error)
{
    int most = 0;
    Curves* curves = calloc(1, sizeof(*curves));
    Lessons lessons = {.list = calloc((size_t)s->count + 1, sizeof(jnaSequence))};
    jnResult result = jn_ok;
    JN_TRY(curves != NULL && lessons.list != NULL ? jn_ok : jnaReport_OutOfMemory(error));
    for (int i = 0; i < s->count; ++i) {
        const ReportSample* sample = &s->list[i];
        most = sample->frameCount > most ? sample->frameCount : most;
        if (sample->trained) {
            lessons.list[lessons.count++] = (jnaSequence){
                jnaReport_View(sample->targets[sample_spread], sample->frameCount, s->sizes[sample_spread]),
                jnaReport_View(sample->motion[sample_spread], sample->frameCount, s->sizes[sample_spread])};
        }
    }
    lessons.track = malloc(6 * ((size_t)most + 1) * sizeof(float));
    JN_TRY(lessons.track != NULL ? jn_ok : jnaReport_OutOfMemory(error));
    for (int i = 0; i < STRENGTH_COUNT; ++i) {
        JN_TRY(Measure(r, s, &lessons, i, curves, error));
    }
    DrawCurves(r, s, curves);
done:
    free(lessons.track);
    free(lessons.list);
    free(curves);
    return result;
}
