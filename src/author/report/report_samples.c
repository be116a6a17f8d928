// A few vertices of every clip with motion, for the figures that fit springs: the soft ones of the robust fit, and some
// spread over the whole body. Targets are those that `jounce fit` learned on, equilibria that were not found filled in
// as there.
#include "report/report_internal.h"

#include "base/try.h"
#include "pipeline/takes.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

void jnaReport_DestroySamples(ReportSamples* s)
{
    for (int i = 0; s->list != NULL && i < s->count; ++i) {
        for (int k = 0; k < sample_setCount; ++k) {
            free(s->list[i].targets[k]);
            free(s->list[i].motion[k]);
        }
    }
    free(s->list);
    free(s->spread);
    *s = (ReportSamples){0};
}

static jnResult ChooseVertices(const Report* r, ReportSamples* s, jnError* error)
{
    int vertices = r->character->vertexCount;
    int spread = vertices < SPREAD_VERTICES ? vertices : SPREAD_VERTICES;
    s->spread = malloc(((size_t)spread + 1) * sizeof(*s->spread));
    if (s->spread == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int i = 0; i < spread; ++i) {
        s->spread[i] = (int)((long)i * vertices / spread);
    }
    s->vertices[sample_soft] = r->candidates;
    s->sizes[sample_soft] = r->candidateCount;
    s->vertices[sample_spread] = s->spread;
    s->sizes[sample_spread] = spread;
    return jn_ok;
}

static jnResult CopySet(const ReportSamples* s, int set, const jnaArray* from, float** to, jnError* error)
{
    size_t frames = from->shape[0], vertices = from->shape[1], count = (size_t)s->sizes[set];
    *to = malloc((frames * count * 3 + 1) * sizeof(float));
    if (*to == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (size_t i = 0; i < frames * count; ++i) {
        size_t at = i / count * vertices + (size_t)s->vertices[set][i % count];
        for (size_t a = 0; a < 3; ++a) {
            (*to)[3 * i + a] = (float)jnaArray_Get(from, 3 * at + a);
        }
    }
    return jn_ok;
}

static jnResult AddTake(const jnaTakes* takes, int index, ReportSamples* s, jnError* error)
{
    const jnaTake* take = &takes->takes[index];
    ReportSample* sample = &s->list[s->count];
    jnaStretch stretch = jnaTake_LongestStretch(take); // springs cannot follow where the motion began again
    size_t first = (size_t)stretch.first, count = (size_t)stretch.count;
    jnaArray targets;
    JN_PASS(jnaTakes_OpenTargets(takes, index, s->kind, &targets, error));
    jnaArray rows = jnaArray_Rows(&targets, first, count), motion = jnaArray_Rows(&take->motion, first, count);
    jnResult result = jn_ok;
    *sample = (ReportSample){.clip = take->clip, .trained = take->trained, .frameCount = stretch.count};
    s->count++;
    for (int set = 0; set < sample_setCount; ++set) {
        JN_TRY(CopySet(s, set, &rows, &sample->targets[set], error));
        JN_TRY(CopySet(s, set, &motion, &sample->motion[set], error));
    }
done:
    jnaCloseTargets(&targets);
    return result;
}

static jnaFitTargets KindOf(const Report* r)
{
    const char* name = json_string_value(json_object_get(r->fit, "targets"));
    for (int kind = 0; name != NULL && kind < jna_targetsCount; ++kind) {
        if (strcmp(name, jnaTargetsName((jnaFitTargets)kind)) == 0) {
            return (jnaFitTargets)kind;
        }
    }
    return jna_targetsAuto;
}

jnResult jnaReport_Sample(Report* r, ReportSamples* s, jnError* error)
{
    jnaTakes takes;
    jnError why = {0};
    *s = (ReportSamples){0};
    jnResult result = jnaOpenTakes(r->opened, &takes, NULL, &why);
    if (result != jn_ok && result != jn_outOfMemory) {
        jnaNotes_Add(r->notes, "%s; nothing is fitted for the report", why.message);
        return jn_ok;
    }
    if (result != jn_ok) {
        return jnFail(error, result, "%s", why.message);
    }
    s->kind = jnaTakes_Choose(&takes, KindOf(r));
    s->list = calloc((size_t)takes.count + 1, sizeof(*s->list));
    result = s->list != NULL ? ChooseVertices(r, s, error) : jnaReport_OutOfMemory(error);
    for (int i = 0; i < takes.count && result == jn_ok; ++i) {
        if (jnaTakes_Has(&takes, i, s->kind)) {
            result = AddTake(&takes, i, s, error);
        }
    }
    jnaCloseTakes(&takes);
    if (result != jn_ok) {
        jnaReport_DestroySamples(s);
    }
    return result;
}

jnaArray jnaReport_View(const float* data, int frames, int vertices)
{
    return (jnaArray){.scalar = jna_float32,
        .dimensions = 3,
        .shape = {(size_t)frames, (size_t)vertices, 3},
        .count = 3 * (size_t)frames * (size_t)vertices,
        .data = data};
}

jnResult jnaReport_Fit(
    const Report* r, const jnaSequence* sequences, int count, double drop, double prior, jnaFit* fit, jnError* error)
{
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = sequences;
    def.sequenceCount = count;
    def.dt = 1 / r->manifest->rate;
    def.drop = drop;
    def.prior = prior;
    def.threads = r->def->threads;
    def.checkOrder = false;
    return jnaFitSprings(&def, fit, error);
}
