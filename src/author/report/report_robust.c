// The paper's figure of robust training: springs fitted to all frames of a clip, and again without the worst.
//
// The paper's case is made from the character's own motion: a copy of it gets a few frames that did not converge, a few
// centimetres off, to and fro. Springs are fitted to that copy with and without dropping and judged on the frames that
// are good, where the truth is known; springs fitted to the clean motion say what could be had. Below it the
// character's own motion, as it is.
#include "report/report_internal.h"

#include "base/try.h"

#include "jounce/springs.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_WIDTH = 280, CHART_HEIGHT = 190, FEWEST_FRAMES = 8 };

// The paper's bad frames, 31 to 34, and how far off they are. A shorter clip has them in its middle.
enum { BAD_FIRST = 31, BAD_COUNT = 4 };
#define BAD_METRES 0.05

// Springs as they are fitted one after another.
typedef enum Trial {
    trial_before, // all frames
    trial_after,  // without the worst
    trial_clean,  // all frames of the motion without bad ones
    trial_count,
} Trial;

// A clip to train on, as it is or with bad frames, and what was fitted to its soft vertices.
typedef struct Robust {
    const ReportSamples* samples;
    const ReportSample* sample; // the clip; NULL: none
    jnaSequence sequence;       // its soft vertices
    int badFirst, badCount;     // frames of it that are bad; 0: none
    float* copy;                // its motion with them
    int chosen;                 // vertex that is drawn, among the candidates
    jnaFit fits[trial_count];
    double drop;
} Robust;

static void DestroyRobust(Robust* b)
{
    for (int i = 0; i < trial_count; ++i) {
        jnaDestroyFit(&b->fits[i]);
    }
    free(b->copy);
}

// Where a vertex of the copy is put in a bad frame: two frames to one side, two to the other, neighbours against each
// other. frame: among the bad ones. An error that changes sides in every frame would be worse to look at and harmless
// to the fit: it cancels.
static void Disturb(float* position, int frame, int vertex)
{
    static const double direction[3] = {0.78, 0.48, -0.4}; // no axis is spared
    double sign = (frame / 2 + vertex) % 2 == 0 ? 1 : -1;
    for (int a = 0; a < 3; ++a) {
        position[a] += (float)(sign * BAD_METRES * direction[a]);
    }
}

static jnResult SpoilFrames(Robust* b, int vertices, jnError* error)
{
    jnaArray* motion = &b->sequence.dynamics;
    int frames = (int)motion->shape[0];
    b->badCount = BAD_COUNT;
    b->badFirst = frames >= BAD_FIRST + 2 * BAD_COUNT ? BAD_FIRST : frames / 2 - BAD_COUNT / 2;
    b->copy = malloc((motion->count + 1) * sizeof(float));
    if (b->copy == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    memcpy(b->copy, motion->data, motion->count * sizeof(float));
    for (int n = b->badFirst; n < b->badFirst + b->badCount; ++n) {
        for (int v = 0; v < vertices; ++v) {
            Disturb(b->copy + 3 * ((size_t)n * (size_t)vertices + (size_t)v), n - b->badFirst, v);
        }
    }
    motion->data = b->copy;
    return jn_ok;
}

// The first clip to train on that is long enough. spoil: a copy of it with bad frames.
static jnResult MakeRobust(const ReportSamples* s, double drop, bool spoil, const Report* r, Robust* b, jnError* error)
{
    int vertices = s->sizes[sample_soft];
    *b = (Robust){.samples = s, .chosen = -1, .drop = drop};
    for (int i = 0; i < s->count && b->sample == NULL; ++i) {
        b->sample = s->list[i].trained && s->list[i].frameCount >= FEWEST_FRAMES ? &s->list[i] : NULL;
    }
    if (b->sample == NULL || vertices == 0) {
        return jn_ok;
    }
    b->sequence = (jnaSequence){jnaReport_View(b->sample->targets[sample_soft], b->sample->frameCount, vertices),
        jnaReport_View(b->sample->motion[sample_soft], b->sample->frameCount, vertices)};
    double prior = jnaDefaultFitDef().prior;
    JN_PASS(spoil ? jnaReport_Fit(r, &b->sequence, 1, 0, prior, &b->fits[trial_clean], error) : jn_ok);
    if (spoil) {
        JN_PASS(SpoilFrames(b, vertices, error));
    }
    JN_PASS(jnaReport_Fit(r, &b->sequence, 1, 0, prior, &b->fits[trial_before], error));
    return jnaReport_Fit(r, &b->sequence, 1, drop, prior, &b->fits[trial_after], error);
}

static bool IsBad(const Robust* b, int frame)
{
    return frame >= b->badFirst && frame < b->badFirst + b->badCount;
}

// One vertex of the sequence that is drawn, and what a spring makes of it.
typedef struct Track {
    int frames;
    float *targets, *motion, *out; // [frames][3]
    uint8_t* dropped;              // [frames], left out by the refit
    float* numbers;
} Track;

static jnResult MakeTrack(const Robust* b, Track* t, jnError* error)
{
    t->frames = (int)b->sequence.targets.shape[0];
    size_t row = 3 * (size_t)t->frames;
    t->numbers = malloc((3 * row + 1) * sizeof(float));
    t->dropped = calloc((size_t)t->frames + 1, 1);
    t->targets = t->numbers;
    t->motion = t->numbers + row;
    t->out = t->numbers + 2 * row;
    return t->numbers != NULL && t->dropped != NULL ? jn_ok : jnaReport_OutOfMemory(error);
}

static void DestroyTrack(Track* t)
{
    free(t->numbers);
    free(t->dropped);
}

static void FillTrack(const Robust* b, int vertex, Track* t)
{
    const jnaSequence* s = &b->sequence;
    size_t width = s->targets.shape[1];
    for (size_t n = 0; n < (size_t)t->frames; ++n) {
        size_t from = 3 * (n * width + (size_t)vertex);
        memcpy(t->targets + 3 * n, (const float*)s->targets.data + from, 3 * sizeof(float));
        memcpy(t->motion + 3 * n, (const float*)s->dynamics.data + from, 3 * sizeof(float));
    }
}

// Squares over the good frames of a track: what a spring leaves, what there is, and how many.
typedef struct Sums {
    double left, layer, count;
} Sums;

static jnResult RunTrack(
    const Report* r, const Robust* b, Trial trial, int vertex, Track* t, Sums* sums, jnError* error)
{
    const jnaFit* fit = &b->fits[trial];
    JN_PASS(jnaRunSpring(t->targets, t->frames, 1 / r->manifest->rate, (double)fit->stiffness[vertex],
        (double)fit->damping[vertex], t->out, error));
    for (int n = 0; n < t->frames; ++n) {
        double left = 0, layer = 0;
        for (int a = 0; a < 3; ++a) {
            size_t i = 3 * (size_t)n + (size_t)a;
            left += pow((double)t->out[i] - (double)t->motion[i], 2);
            layer += pow((double)t->targets[i] - (double)t->motion[i], 2);
        }
        if (isfinite(left + layer) && !IsBad(b, n)) {
            *sums = (Sums){sums->left + left, sums->layer + layer, sums->count + 1};
        }
    }
    return jn_ok;
}

// All candidates on the good frames, by each fit; and the one to draw: where the first fit errs most against the
// second. Springs that the data do not settle come after all others.
static jnResult JudgeAll(const Report* r, Robust* b, Track* t, Sums sums[trial_count], jnError* error)
{
    double most = -HUGE_VAL;
    for (int v = 0; v < b->samples->sizes[sample_soft]; ++v) {
        Sums own[trial_count] = {{0}};
        FillTrack(b, v, t);
        for (int k = 0; k < trial_count; ++k) {
            if (b->fits[k].stiffness == NULL) {
                continue;
            }
            JN_PASS(RunTrack(r, b, (Trial)k, v, t, &own[k], error));
            sums[k] = (Sums){sums[k].left + own[k].left, sums[k].layer + own[k].layer, sums[k].count + own[k].count};
        }
        double gain = own[trial_before].left - own[trial_after].left;
        gain -= (b->fits[trial_before].state[v] | b->fits[trial_after].state[v]) != 0 ? 1e6 : 0;
        if (isfinite(gain) && gain > most) {
            most = gain;
            b->chosen = v;
        }
    }
    return jn_ok;
}

// Which frames of the chosen vertex the refit leaves out: it is fitted once more, alone.
static jnResult FindDropped(const Report* r, const Robust* b, Track* t, jnError* error)
{
    jnaSequence alone = {jnaReport_View(t->targets, t->frames, 1), jnaReport_View(t->motion, t->frames, 1)};
    jnaFit fit = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaReport_Fit(r, &alone, 1, b->drop, jnaDefaultFitDef().prior, &fit, error));
    for (int n = 0; n < t->frames; ++n) {
        t->dropped[n] = fit.dropped[n] > 0;
    }
done:
    jnaDestroyFit(&fit);
    return result;
}

// Curves of one row: offsets from the target, mm, simulated and fitted, on three axes, and the error.
typedef struct Row {
    double* numbers;
    double* seconds;      // [frames]
    double* simulated[3]; // [frames]
    double* fitted[3];
    double* error;
} Row;

static jnResult MakeRow(size_t frames, Row* row, jnError* error)
{
    row->numbers = malloc((frames + 1) * 8 * sizeof(double));
    row->seconds = row->numbers;
    for (size_t a = 0; row->numbers != NULL && a < 3; ++a) {
        row->simulated[a] = row->numbers + (1 + a) * frames;
        row->fitted[a] = row->numbers + (4 + a) * frames;
        row->error = row->numbers + 7 * frames;
    }
    return row->numbers != NULL ? jn_ok : jnaReport_OutOfMemory(error);
}

static void FillRow(const Track* t, double rate, Row* row)
{
    for (size_t n = 0; n < (size_t)t->frames; ++n) {
        double square = 0;
        row->seconds[n] = (double)n / rate;
        for (size_t a = 0; a < 3; ++a) {
            row->simulated[a][n] = 1e3 * ((double)t->motion[3 * n + a] - (double)t->targets[3 * n + a]);
            row->fitted[a][n] = 1e3 * ((double)t->out[3 * n + a] - (double)t->targets[3 * n + a]);
            square += pow(row->simulated[a][n] - row->fitted[a][n], 2);
        }
        row->error[n] = sqrt(square);
    }
}

// most: the upper end of the error's axis, mm; what is beyond runs along it.
static void DrawRow(Report* r, const Row* row, int frames, int index, const uint8_t* shaded, double most)
{
    static const char* const names[2][4] = {{"x, all frames", "y, all frames", "z, all frames", "error, all frames"},
        {"x, worst left out", "y, worst left out", "z, worst left out", "error, worst left out"}};
    fputs("<div class=\"row\" style=\"--least:225px\">\n", r->out);
    for (int k = 0; k < 4; ++k) {
        jnaSeries series[2] = {{.x = row->seconds,
                                   .y = k < 3 ? row->simulated[k] : row->error,
                                   .count = frames,
                                   .color = k < 3 ? 0x2f83d0 : 0x8b949c},
            {.x = row->seconds,
                .y = k < 3 ? row->fitted[k] : row->error,
                .count = frames,
                .color = k < 3 ? 0xf08c1e : 0x8b949c}};
        jnaChart chart = {.title = names[index][k],
            .xLabel = "seconds",
            .yLabel = k < 3 ? "from the target, mm" : "mm",
            .series = series,
            .seriesCount = k < 3 ? 2 : 1,
            .yRange = {0, k < 3 ? 0 : most}};
        fputs("<div>", r->out);
        jnaReport_Chart(r->out, &chart, shaded, CHART_WIDTH, CHART_HEIGHT);
        fputs("</div>\n", r->out);
    }
    fputs("</div>\n", r->out);
}

// The largest error in a good frame, and a little room.
static double MostOnGood(const Robust* b, const Track* t, const Row* row)
{
    double most = 0;
    for (int n = 0; n < t->frames; ++n) {
        most = isfinite(row->error[n]) && !IsBad(b, n) ? fmax(most, row->error[n]) : most;
    }
    return most > 0 ? 1.2 * most : 1;
}

static const char* ClipName(const Report* r, const Robust* b)
{
    return r->manifest->clips[b->sample->clip].name;
}

static void WriteHeading(Report* r, const Robust* b)
{
    int vertex = b->samples->vertices[sample_soft][b->chosen];
    fprintf(
        r->out, "<figure id=\"%s\"><h3>Vertex %d at ", b->badCount > 0 ? "robust-trajectories" : "robust-own", vertex);
    jnaReport_Text(r->out, jnaReport_RegionOf(r, vertex));
    fputs(", ", r->out);
    jnaReport_Text(r->out, ClipName(r, b));
    if (b->badCount > 0) {
        fprintf(r->out, " with frames %d to %d made bad", b->badFirst, b->badFirst + b->badCount - 1);
    }
    fputs("</h3>\n<p class=\"keys\">", r->out);
    jnaReport_Key(r->out, 0x2f83d0, false, b->badCount > 0 ? "simulated, with bad frames" : "simulated");
    jnaReport_Key(r->out, 0xf08c1e, false, "fitted spring");
    jnaReport_Key(r->out, 0x8b949c, false, "distance between them");
    fputs("</p>\n", r->out);
}

// Both rows of the chosen vertex: the first shades what is bad, the second what the refit leaves out.
static jnResult DrawChosen(Report* r, Robust* b, Track* t, Sums sums[trial_count], jnError* error)
{
    uint8_t* bad = calloc((size_t)t->frames + 1, 1);
    Row row = {0};
    double most = 0;
    jnResult result = jn_ok;
    JN_TRY(bad != NULL ? MakeRow((size_t)t->frames, &row, error) : jnaReport_OutOfMemory(error));
    FillTrack(b, b->chosen, t);
    JN_TRY(FindDropped(r, b, t, error));
    WriteHeading(r, b);
    for (int n = 0; bad != NULL && n < t->frames; ++n) {
        bad[n] = IsBad(b, n);
    }
    for (int k = 0; k < trial_count; ++k) {
        if (b->fits[k].stiffness == NULL) {
            continue;
        }
        JN_TRY(RunTrack(r, b, (Trial)k, b->chosen, t, &sums[k], error));
        if (k < 2) {
            FillRow(t, r->manifest->rate, &row);
            most = k == 0 ? MostOnGood(b, t, &row) : most; // one scale for both
            DrawRow(r, &row, t->frames, k, k == 0 ? bad : t->dropped, most);
        }
    }
done:
    free(row.numbers);
    free(bad);
    return result;
}

static double Rms(const Sums* s)
{
    return s->count > 0 ? 1e3 * sqrt(s->left / s->count) : 0;
}

static double Captured(const Sums* s)
{
    return s->layer > 0 ? 1 - s->left / s->layer : 0;
}

static void WriteTable(Report* r, const Robust* b, const Sums* all, const Sums* one)
{
    static const char* const names[trial_count] = {"fitted to all frames, bad ones included",
        "fitted again without the worst", "fitted to the clean motion: what can be had"};
    fprintf(r->out,
        "<div class=\"wide\"><table id=\"robust-numbers\"><tr><th class=\"l\">on the %.0f good frames of the "
        "clip</th><th>%d soft "
        "vertices,<br>rms mm</th><th>captured</th><th>vertex drawn,<br>rms mm</th><th>k<sub>s</sub>, "
        "1/s²</th><th>k<sub>d</sub>, 1/s</th></tr>\n",
        one[trial_before].count, b->samples->sizes[sample_soft]);
    for (int k = 0; k < trial_count; ++k) {
        fprintf(r->out,
            "<tr><td class=\"l\">%s</td><td>%.2f</td><td>%.3f</td><td>%.2f</td><td>%.0f</td><td>%.1f</td></tr>\n",
            names[k], Rms(&all[k]), Captured(&all[k]), Rms(&one[k]), (double)b->fits[k].stiffness[b->chosen],
            (double)b->fits[k].damping[b->chosen]);
    }
    fputs("</table></div>\n", r->out);
}

static void WriteCaption(Report* r, const Robust* b, const Sums* all, const Sums* one)
{
    if (b->badCount > 0) {
        fprintf(r->out,
            "<figcaption>In a copy of the motion every vertex is displaced by %.0f mm, back and forth, in %d frames, "
            "like a "
            "simulation that has not converged. Shaded: above the bad frames, below the %.0f %% of this vertex's "
            "frames that the second fit leaves out. Of %d soft vertices, the one that gains "
            "most.</figcaption></figure>\n",
            1e3 * BAD_METRES, b->badCount, 100 * b->drop, b->samples->sizes[sample_soft]);
        WriteTable(r, b, all, one);
        return;
    }
    fprintf(r->out,
        "<figcaption>The same on the motion as it is, all frames counted in both: this vertex %.2f, then %.2f mm rms; "
        "%d soft vertices %.2f, then %.2f mm, captured %.3f, then %.3f.</figcaption></figure>\n",
        Rms(&one[trial_before]), Rms(&one[trial_after]), b->samples->sizes[sample_soft], Rms(&all[trial_before]),
        Rms(&all[trial_after]), Captured(&all[trial_before]), Captured(&all[trial_after]));
}

static jnResult DrawRobust(Report* r, const ReportSamples* s, double drop, bool spoil, bool* drawn, jnError* error)
{
    Robust b;
    Track track = {0};
    Sums all[trial_count] = {{0}}, one[trial_count] = {{0}};
    jnResult result = jn_ok;
    *drawn = false;
    JN_TRY(MakeRobust(s, drop, spoil, r, &b, error));
    if (b.fits[trial_after].stiffness != NULL) {
        JN_TRY(MakeTrack(&b, &track, error));
        JN_TRY(JudgeAll(r, &b, &track, all, error));
        *drawn = b.chosen >= 0;
        if (*drawn) {
            JN_TRY(DrawChosen(r, &b, &track, one, error));
            WriteCaption(r, &b, all, one);
        }
    }
done:
    DestroyTrack(&track);
    DestroyRobust(&b);
    return result;
}

static double NumberOf(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// What springs/fit.json tells of all springs together, both fits on the same frames.
static void WriteFit(Report* r)
{
    const json_t* all = json_object_get(r->fit, "vertex");
    const char* targets = json_string_value(json_object_get(r->fit, "targets"));
    double before = NumberOf(all, "loss_before"), after = NumberOf(all, "loss_after");
    if (!isfinite(before) || !isfinite(after)) {
        return; // the next section says whether there are fitted springs
    }
    fputs("<p id=\"fit\">All vertices of this character together, on ", r->out);
    jnaReport_Text(r->out, targets != NULL ? targets : "unknown");
    fprintf(r->out,
        " targets. On the frames that the second fit keeps, the first leaves %.3f mm rms and the second %.3f mm",
        1e3 * sqrt(before), 1e3 * sqrt(after));
    double captured[4] = {NumberOf(all, "captured_before"), NumberOf(all, "captured_after"),
        NumberOf(all, "captured_all_before"), NumberOf(all, "captured_all_after")};
    if (isfinite(captured[0] + captured[1] + captured[2] + captured[3])) {
        fprintf(r->out, ", captured %.3f and %.3f; on all frames %.3f and %.3f", captured[0], captured[1], captured[2],
            captured[3]);
    }
    size_t i;
    const json_t* clip;
    double failed = 0;
    json_array_foreach(json_object_get(r->fit, "clips"), i, clip)
    {
        const char* name = json_string_value(json_object_get(clip, "clip"));
        fputs(i == 0 ? ". For each vertex the second fit dropped on average " : ", ", r->out);
        fprintf(r->out, "%.0f of the %.0f frames of ", NumberOf(clip, "dropped"), NumberOf(clip, "frames"));
        jnaReport_Text(r->out, name != NULL ? name : "?");
        failed += fmax(NumberOf(clip, "failed"), 0);
    }
    fprintf(r->out, ". The simulation itself found no equilibrium in %.0f frames of these clips.</p>\n", failed);
}

static jnResult MakeFigures(Report* r, double drop, jnError* error)
{
    ReportSamples samples;
    bool drawn = false, own = false;
    jnResult result = jn_ok;
    JN_PASS(jnaReport_Sample(r, &samples, error));
    JN_TRY(DrawRobust(r, &samples, drop, true, &drawn, error));
    if (drawn) {
        WriteFit(r);
        fputs("<details><summary>The same on this character's own motion, without bad frames</summary>\n", r->out);
        JN_TRY(DrawRobust(r, &samples, drop, false, &own, error));
        fputs("</details>\n", r->out);
        JN_TRY(jnaReport_Prior(r, &samples, error));
    } else {
        jnaReport_Missing(r,
            "no soft vertex of a clip to train on has motion to fit: jounce simulate %s --clips --dynamic",
            r->workspace);
    }
done:
    jnaReport_DestroySamples(&samples);
    return result;
}

jnResult jnaReport_Robust(Report* r, jnError* error)
{
    const json_t* given = json_object_get(r->fit, "drop");
    double drop = json_is_number(given) ? json_number_value(given) : 0.1;
    drop = drop > 0 && drop <= 0.5 ? drop : 0.1;
    jnaReport_BeginSection(r, "robust", "Robustness to bad frames");
    fprintf(r->out,
        "<p>A simulation may have frames that did not converge. Springs are fitted to all frames first, then again "
        "without the %.0f %% with the largest error, so that a few bad frames do not distort the result.</p>\n",
        100 * drop);
    jnResult result = jn_ok;
    if (r->played) {
        result = MakeFigures(r, drop, error);
    } else {
        jnaReport_Missing(r, "nothing to fit: jounce simulate %s --clips --dynamic", r->workspace);
    }
    jnaReport_EndSection(r);
    return result;
}
