// The paper's figure of robust training: one vertex fitted to all frames of the clips to train on, and again without
// its worst, per axis and with the error.
//
// Soft vertices are fitted both ways; shown is the one whose spring changes most. The fit is the one of `jounce fit`,
// on the same targets.
#include "report_internal.h"

#include "internal.h"
#include "jounce/springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_WIDTH = 280, CHART_HEIGHT = 190 };

// One vertex on the clips to train on, before and after its worst frames are dropped.
typedef struct Robust {
    int vertex;
    int sequenceCount;
    jnaSequence* sequences; // of one vertex
    float* numbers;         // what they point into
    double stiffness[2], damping[2];
    uint8_t* dropped; // [frames of all sequences]
} Robust;

static jnaArray View(const float* data, int frames, int vertices)
{
    return (jnaArray){.scalar = jna_float32,
        .dimensions = 3,
        .shape = {(size_t)frames, (size_t)vertices, 3},
        .count = 3 * (size_t)frames * (size_t)vertices,
        .data = data};
}

static jnResult Fit(const Report* r, const jnaSequence* sequences, int count, double drop, jnaFit* fit, jnError* error)
{
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = sequences;
    def.sequenceCount = count;
    def.dt = 1 / r->manifest.rate;
    def.drop = drop;
    def.threads = r->def->threads;
    def.checkOrder = false;
    return jnaFitSprings(&def, fit, error);
}

// Fits the candidates with and without dropping and returns the one whose spring changes most; -1: none.
static jnResult ChooseCandidate(
    const Report* r, const jnaSequence* sequences, int count, double drop, int* chosen, jnError* error)
{
    jnaFit before = {0}, after = {0};
    double most = -HUGE_VAL;
    jnResult result = Fit(r, sequences, count, 0, &before, error);
    result = result == jn_ok ? Fit(r, sequences, count, drop, &after, error) : result;
    *chosen = -1;
    for (int i = 0; result == jn_ok && i < r->candidateCount; ++i) {
        double change = fabs(log((double)after.stiffness[i] / (double)before.stiffness[i])) +
                        fabs(log((double)after.damping[i] / (double)before.damping[i]));
        // Springs that the data do not settle come after all others.
        change -= (before.state[i] | after.state[i]) != 0 ? 1e6 : 0;
        if (isfinite(change) && change > most) {
            most = change;
            *chosen = i;
        }
    }
    jnaDestroyFit(&before);
    jnaDestroyFit(&after);
    return result;
}

static void DestroyRobust(Robust* b)
{
    free(b->sequences);
    free(b->numbers);
    free(b->dropped);
}

// Cuts the chosen vertex out of the candidates' arrays and fits it twice.
static jnResult FitChosen(const Report* r, Robust* b, const jnaSequence* all, int chosen, double drop, jnError* error)
{
    size_t frames = 0, at = 0;
    for (int s = 0; s < b->sequenceCount; ++s) {
        frames += all[s].targets.shape[0];
    }
    b->numbers = malloc((frames + 1) * 6 * sizeof(float));
    b->dropped = calloc(frames + 1, 1);
    if (b->numbers == NULL || b->dropped == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int s = 0; s < b->sequenceCount; ++s) {
        size_t count = all[s].targets.shape[0], width = all[s].targets.shape[1];
        float *targets = b->numbers + 6 * at, *simulated = targets + 3 * count;
        for (size_t n = 0; n < count; ++n) {
            size_t from = 3 * (n * width + (size_t)chosen);
            memcpy(targets + 3 * n, (const float*)all[s].targets.data + from, 3 * sizeof(float));
            memcpy(simulated + 3 * n, (const float*)all[s].dynamics.data + from, 3 * sizeof(float));
        }
        b->sequences[s] = (jnaSequence){View(targets, (int)count, 1), View(simulated, (int)count, 1)};
        at += count;
    }
    jnResult result = jn_ok;
    for (int row = 0; row < 2 && result == jn_ok; ++row) {
        jnaFit fit = {0};
        result = Fit(r, b->sequences, b->sequenceCount, row == 0 ? 0 : drop, &fit, error);
        if (result == jn_ok) {
            b->stiffness[row] = (double)fit.stiffness[0];
            b->damping[row] = (double)fit.damping[0];
            for (size_t n = 0; row == 1 && n < frames; ++n) {
                b->dropped[n] = fit.dropped[n] > 0;
            }
        }
        jnaDestroyFit(&fit);
    }
    return result;
}

// The sequence that lost most of its frames.
static int ChooseSequence(const Robust* b, size_t* first)
{
    int best = 0;
    double most = -1;
    size_t at = 0;
    for (int s = 0; s < b->sequenceCount; ++s) {
        size_t frames = b->sequences[s].targets.shape[0];
        double dropped = 0;
        for (size_t n = 0; n < frames; ++n) {
            dropped += b->dropped[at + n];
        }
        if (dropped / (double)frames > most) {
            most = dropped / (double)frames;
            best = s;
            *first = at;
        }
        at += frames;
    }
    return best;
}

// Curves of one row: offsets from the target, mm, simulated and fitted, on three axes, and the error.
typedef struct Row {
    double* seconds;      // [frames]
    double* simulated[3]; // [frames]
    double* fitted[3];
    double* error;
} Row;

static void FillRow(const jnaSequence* s, const float* out, double rate, Row* row)
{
    const float *targets = s->targets.data, *truth = s->dynamics.data;
    for (size_t n = 0; n < s->targets.shape[0]; ++n) {
        double square = 0;
        row->seconds[n] = (double)n / rate;
        for (size_t a = 0; a < 3; ++a) {
            row->simulated[a][n] = 1e3 * ((double)truth[3 * n + a] - (double)targets[3 * n + a]);
            row->fitted[a][n] = 1e3 * ((double)out[3 * n + a] - (double)targets[3 * n + a]);
            square += pow(row->simulated[a][n] - row->fitted[a][n], 2);
        }
        row->error[n] = sqrt(square);
    }
}

// Root mean square of the error over the frames that are dropped, or over the others, mm.
static double RowError(const Row* row, const uint8_t* dropped, size_t frames, bool ofDropped)
{
    double sum = 0, count = 0;
    for (size_t n = 0; n < frames; ++n) {
        if ((dropped[n] != 0) == ofDropped && isfinite(row->error[n])) {
            sum += row->error[n] * row->error[n];
            count += 1;
        }
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

static void DrawRow(Report* r, const Row* row, int frames, int index, const uint8_t* dropped)
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
            .seriesCount = k < 3 ? 2 : 1};
        fputs("<div>", r->out);
        jnaReport_Chart(r->out, &chart, index == 1 ? dropped : NULL, CHART_WIDTH, CHART_HEIGHT);
        fputs("</div>\n", r->out);
    }
    fputs("</div>\n", r->out);
}

static void WriteHeading(Report* r, const Robust* b, int sequence)
{
    const char* name = "";
    for (int i = 0, seen = 0; i < r->clipCount; ++i) {
        if (r->clips[i].seenTargets != NULL && r->clips[i].frameCount >= 4 && seen++ == sequence) {
            name = r->clips[i].name;
        }
    }
    fprintf(r->out, "<figure id=\"robust-trajectories\"><h3>Vertex %d at ", b->vertex);
    jnaReport_Text(r->out, jnaReport_RegionOf(r, b->vertex));
    fputs(", ", r->out);
    jnaReport_Text(r->out, name);
    fputs("</h3>\n<p class=\"keys\">", r->out);
    jnaReport_Key(r->out, 0x2f83d0, false, "simulated");
    jnaReport_Key(r->out, 0xf08c1e, false, "fitted spring");
    jnaReport_Key(r->out, 0x8b949c, false, "distance between them");
    fputs("</p>\n", r->out);
}

static jnResult DrawRobust(Report* r, const Robust* b, double drop, jnError* error)
{
    size_t first = 0;
    int sequence = ChooseSequence(b, &first);
    const jnaSequence* s = &b->sequences[sequence];
    size_t frames = s->targets.shape[0];
    double* numbers = malloc((frames + 1) * 8 * sizeof(double));
    float* out = malloc((frames + 1) * 3 * sizeof(float));
    if (numbers == NULL || out == NULL) {
        free(numbers);
        free(out);
        return jnaReport_OutOfMemory(error);
    }
    Row row = {.seconds = numbers, .error = numbers + 7 * frames};
    for (size_t a = 0; a < 3; ++a) {
        row.simulated[a] = numbers + (1 + a) * frames;
        row.fitted[a] = numbers + (4 + a) * frames;
    }
    WriteHeading(r, b, sequence);
    jnResult result = jn_ok;
    double kept[2] = {0}, dropped[2] = {0};
    for (int k = 0; k < 2 && result == jn_ok; ++k) {
        result = jnaRunSpring(s->targets.data, (int)s->targets.shape[0], 1 / r->manifest.rate, b->stiffness[k],
            b->damping[k], out, error);
        if (result == jn_ok) {
            FillRow(s, out, r->manifest.rate, &row);
            DrawRow(r, &row, (int)frames, k, b->dropped + first);
            kept[k] = RowError(&row, b->dropped + first, frames, false);
            dropped[k] = RowError(&row, b->dropped + first, frames, true);
        }
    }
    fprintf(r->out,
        "<figcaption>Root of the mean loss: %.2f, then %.2f mm over the frames that are kept; %.1f, then %.1f "
        "mm over those "
        "that are dropped. Stiffness %.0f, then %.0f 1/s²; damping %.1f, then %.1f 1/s. Shaded: the %.0f %% of its "
        "frames that "
        "the second fit leaves out. Of %d vertices of the softest part, the one whose spring changes most by "
        "it.</figcaption>"
        "</figure>\n",
        kept[0], kept[1], dropped[0], dropped[1], b->stiffness[0], b->stiffness[1], b->damping[0], b->damping[1],
        100 * drop, r->candidateCount);
    free(numbers);
    free(out);
    return result;
}

static double NumberOf(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// What springs/fit.json tells of all springs together.
static void WriteFit(Report* r)
{
    const json_t* all = json_object_get(r->fit, "vertex");
    const char* targets = json_string_value(json_object_get(r->fit, "targets"));
    double before = NumberOf(all, "loss_before"), after = NumberOf(all, "loss_after");
    if (!isfinite(before) || !isfinite(after)) {
        return; // the next section says whether there are fitted springs
    }
    fputs("<p id=\"fit\">All vertices together, on ", r->out);
    jnaReport_Text(r->out, targets != NULL ? targets : "unknown");
    fprintf(r->out,
        " targets: mean loss %.1f mm² over all frames at first, %.1f mm² over those that are kept in the end",
        1e6 * before, 1e6 * after);
    double captured[2] = {NumberOf(all, "captured_before"), NumberOf(all, "captured_after")};
    if (isfinite(captured[0]) && isfinite(captured[1])) {
        fprintf(r->out, "; captured %.2f, then %.2f", captured[0], captured[1]);
    }
    size_t i;
    const json_t* clip;
    json_array_foreach(json_object_get(r->fit, "clips"), i, clip)
    {
        const char* name = json_string_value(json_object_get(clip, "clip"));
        fputs(i == 0 ? ". Left out for a vertex, on average: " : ", ", r->out);
        fprintf(r->out, "%.0f of the %.0f frames of ", NumberOf(clip, "dropped"), NumberOf(clip, "frames"));
        jnaReport_Text(r->out, name != NULL ? name : "?");
    }
    fputs(".</p>\n", r->out);
}

static jnResult MakeRobust(Report* r, double drop, jnError* error)
{
    Robust b = {0};
    jnaSequence* all = calloc((size_t)r->clipCount + 1, sizeof(*all));
    b.sequences = calloc((size_t)r->clipCount + 1, sizeof(*b.sequences));
    jnResult result = all != NULL && b.sequences != NULL ? jn_ok : jnaReport_OutOfMemory(error);
    for (int i = 0; result == jn_ok && i < r->clipCount; ++i) {
        const ReportClip* clip = &r->clips[i];
        if (clip->seenTargets != NULL && clip->frameCount >= 4) {
            all[b.sequenceCount++] = (jnaSequence){View(clip->seenTargets, clip->frameCount, r->candidateCount),
                View(clip->seenSimulated, clip->frameCount, r->candidateCount)};
        }
    }
    int chosen = -1;
    if (result == jn_ok && b.sequenceCount > 0) {
        result = ChooseCandidate(r, all, b.sequenceCount, drop, &chosen, error);
    }
    if (result == jn_ok && chosen >= 0) {
        b.vertex = r->candidates[chosen];
        result = FitChosen(r, &b, all, chosen, drop, error);
        result = result == jn_ok ? DrawRobust(r, &b, drop, error) : result;
    } else if (result == jn_ok) {
        jnaReport_Missing(r,
            "no soft vertex of a clip to train on has motion to fit: jounce simulate %s --clips --dynamic",
            r->workspace);
    }
    DestroyRobust(&b);
    free(all);
    return result;
}

jnResult jnaReport_Robust(Report* r, jnError* error)
{
    const json_t* given = json_object_get(r->fit, "drop");
    double drop = json_is_number(given) ? json_number_value(given) : 0.1;
    drop = drop > 0 && drop <= 0.5 ? drop : 0.1;
    jnaReport_BeginSection(r, "robust", "Fitting in spite of bad frames");
    fprintf(r->out,
        "<p>A simulation has frames that did not converge. A spring is fitted to all frames first, then again without "
        "the "
        "%.0f %% it misses most, so that a few wrong frames do not bend the rest.</p>\n",
        100 * drop);
    jnResult result = jn_ok;
    if (r->played) {
        result = MakeRobust(r, drop, error);
    } else {
        jnaReport_Missing(r, "nothing to fit: jounce simulate %s --clips --dynamic", r->workspace);
    }
    if (result == jn_ok) {
        WriteFit(r);
    }
    jnaReport_EndSection(r);
    return result;
}
