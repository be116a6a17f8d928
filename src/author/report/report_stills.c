// Stills: each clip at the frame with the most dynamics, skinned, springs per vertex, what ships and simulated side by
// side with the distances from the simulation, and the simulated clips that were learned from, in a few frames.
#include "report/report_internal.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 2 * still_count - 1, STRIP_PANELS = 6, MOST_STILLS = 4, MOST_STRIPS = 2 };

static float Distances(const float* a, const float* b, int vertexCount, float* out)
{
    float most = 0;
    for (int v = 0; v < vertexCount; ++v) {
        const float *p = a + 3 * (size_t)v, *q = b + 3 * (size_t)v;
        float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
        out[v] = sqrtf(x * x + y * y + z * z);
        most = fmaxf(most, out[v]);
    }
    return most;
}

static double Rms(const float* values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += (double)values[i] * (double)values[i];
    }
    return sqrt(sum / (count > 0 ? count : 1));
}

typedef struct Still {
    int count, panels; // surfaces; and with the distances of all but the last
    ReportStill surfaces[still_count];
    jnaPictureMesh meshes[MOST_PANELS];
    float* heat[still_count]; // [vertexCount], distance of each but the last from the simulation
    float high;               // metres, the end of the colour map
    char labels[MOST_PANELS][96];
} Still;

static const char* NameOf(const Report* r, ReportStill surface)
{
    return surface == still_skinned ? "skinned"
           : surface == still_paper ? "springs per vertex"
           : surface == still_ours  ? jnaReport_OursName(r)
                                    : "simulated";
}

static void FillStill(const Report* r, const ReportClip* clip, float turn, Still* still)
{
    for (int i = 0; i < still->panels; ++i) {
        int surface = i < still->count ? i : i - still->count;
        const char* name = NameOf(r, still->surfaces[surface]);
        jnaPictureMesh* mesh = &still->meshes[i];
        *mesh = jnaPictureCharacter(r->character, clip->stills[still->surfaces[surface]], r->triangleColors);
        mesh->turn = turn;
        mesh->panel = i;
        if (i >= still->count) {
            mesh->heat = still->heat[surface];
            mesh->heatHigh = still->high;
            snprintf(still->labels[i], sizeof(still->labels[i]), "%s, %.1f mm rms off", name,
                1e3 * Rms(mesh->heat, mesh->vertexCount));
        } else {
            snprintf(still->labels[i], sizeof(still->labels[i]), "%s", name);
        }
    }
    // All stand where the simulated one does: what differs is what moved.
    jnaPictureMesh* simulated = &still->meshes[still->count - 1];
    jnaPictureMesh_Center(simulated);
    for (int i = 0; i < still->panels; ++i) {
        memmove(still->meshes[i].offset, simulated->offset, sizeof(still->meshes[i].offset));
    }
}

static jnResult DrawStill(Report* r, const ReportClip* clip, float turn, Still* still, int number, jnError* error)
{
    FillStill(r, clip, turn, still);
    jnaPictureDef def = jnaReport_PictureDef(r, 400);
    def.columns = still->panels;
    jnaPictureDef_Frame(&def, still->meshes, still->panels);
    jnaPicture picture;
    JN_PASS(jnaDrawPicture(&def, still->meshes, still->panels, &picture, error));
    fprintf(r->out, "<figure id=\"still-%d\"><h3>", number);
    jnaReport_Text(r->out, clip->name);
    fprintf(r->out, ", %s, %.2f s</h3>\n<div class=\"row\" style=\"--least:%dpx\">\n",
        clip->trained ? "seen" : "unseen", (clip->first + clip->strongest) / clip->clip->rate,
        def.panelWidth > def.panelHeight ? 200 : 120);
    jnResult result = jnaReport_Panels(r, &picture, still->panels, still->labels, error);
    jnaDestroyPicture(&picture);
    fputs("</div>\n", r->out);
    const double shares[2] = {0, 1};
    char ends[2][16] = {"0"};
    snprintf(ends[1], sizeof(ends[1]), "%.0f", 1e3 * (double)still->high);
    jnaReport_HeatBar(r->out, 2, shares, ends, " mm");
    fputs("</figure>\n", r->out);
    return result;
}

static jnResult MakeStill(Report* r, const ReportClip* clip, int number, jnError* error)
{
    size_t count = (size_t)r->character->vertexCount;
    float* numbers = malloc((count * (still_count + 1) + 12 * (size_t)r->character->jointCount) * sizeof(float));
    if (numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    Still still = {0};
    for (int i = 0; i < still_count; ++i) {
        if (clip->stills[i] != NULL) {
            still.surfaces[still.count++] = (ReportStill)i;
        }
    }
    still.panels = 2 * still.count - 1;
    for (int i = 0; i < still.count - 1; ++i) {
        still.heat[i] = numbers + count * (size_t)i;
        Distances(clip->stills[still.surfaces[i]], clip->stills[still_simulated], (int)count, still.heat[i]);
    }
    float *scratch = numbers + count * still_count, *matrices = scratch + count;
    still.high = fmaxf(jnaReport_Percentile(still.heat[0], (int)count, 0.99, scratch), 1e-3f);
    float facing = jnaReport_Facing(r, clip->clip, clip->first + clip->strongest, matrices);
    jnResult result = DrawStill(r, clip, -facing - 30, &still, number, error);
    free(numbers);
    return result;
}

// The simulated motion of a clip in a few frames.
static jnResult MakeStrip(Report* r, const ReportClip* clip, int number, jnError* error)
{
    size_t row = 3 * (size_t)r->character->vertexCount;
    float* numbers = malloc((STRIP_PANELS * row + 12 * (size_t)r->character->jointCount) * sizeof(float));
    if (numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    jnaPictureMesh meshes[STRIP_PANELS];
    char labels[STRIP_PANELS][96];
    float facing = jnaReport_Facing(r, clip->clip, clip->first, numbers + STRIP_PANELS * row);
    for (int i = 0; i < STRIP_PANELS; ++i) {
        int frame = (int)((long)(clip->frameCount - 1) * i / (STRIP_PANELS - 1));
        float* positions = numbers + row * (size_t)i;
        const float* source = jnaReport_Row(&clip->simulated, frame, positions);
        if (source != positions) {
            memcpy(positions, source, row * sizeof(float));
        }
        for (size_t k = 0; k < row; ++k) { // a frame that failed may hold anything
            positions[k] = isfinite(positions[k]) ? positions[k] : 0.0f;
        }
        meshes[i] = jnaPictureCharacter(r->character, positions, r->triangleColors);
        meshes[i].turn = -facing - 30;
        meshes[i].panel = i;
        jnaPictureMesh_Center(&meshes[i]);
        snprintf(labels[i], sizeof(labels[i]), "%.2f s", (clip->first + frame) / clip->clip->rate);
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 280);
    def.columns = STRIP_PANELS;
    jnaPictureDef_Frame(&def, meshes, STRIP_PANELS);
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, meshes, STRIP_PANELS, &picture, error);
    if (result == jn_ok) {
        fprintf(r->out, "<figure id=\"sequence-%d\"><h3>", number);
        jnaReport_Text(r->out, clip->name);
        fputs(", simulated: used for training</h3>\n<div class=\"row\" style=\"--least:110px\">\n", r->out);
        result = jnaReport_Panels(r, &picture, STRIP_PANELS, labels, error);
        fputs("</div></figure>\n", r->out);
        jnaDestroyPicture(&picture);
    }
    free(numbers);
    return result;
}

jnResult jnaReport_Stills(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    int stills = 0, strips = 0, left = 0;
    jnaReport_BeginSection(r, "stills", "Side by side");
    if (!r->played) {
        jnaReport_Missing(r,
            "no stills: they need simulated motion and the file that plays, jounce simulate %s --clips "
            "--dynamic && jounce build %s",
            r->workspace, r->workspace);
    } else {
        fprintf(r->out,
            "<p>For each clip the frame in which the flesh is farthest from the target surface. The runtime plays "
            "the exported <i>%s</i>%s. Colours show how far a surface is from the simulated one.</p>\n",
            jnaReport_OursName(r),
            r->showsPaper ? "; <i>springs per vertex</i> are the paper's, fitted to the same clips" : "");
    }
    for (int seen = 1; seen >= 0; --seen) {
        int drawn = 0;
        for (int i = 0; i < r->clipCount; ++i) {
            const ReportClip* clip = &r->clips[i];
            if (clip->trained != (seen == 1) || clip->stills[still_simulated] == NULL) {
                continue;
            }
            if (drawn++ >= MOST_STILLS) {
                left++;
                continue;
            }
            JN_TRY(MakeStill(r, clip, stills++, error));
            if (!jnaReport_Progress(r, r->share + 0.25 / r->clipCount)) {
                JN_TRY(jnFail(error, jn_cancelled, "the report was cancelled"));
            }
        }
    }
    if (left > 0) {
        fprintf(r->out, "<p>%d more clips have motion: at most %d seen and %d unseen are drawn.</p>\n", left,
            (int)MOST_STILLS, (int)MOST_STILLS);
    }
    for (int i = 0; i < r->clipCount && strips < MOST_STRIPS; ++i) {
        if (r->clips[i].trained && r->clips[i].frameCount >= STRIP_PANELS) {
            JN_TRY(MakeStrip(r, &r->clips[i], strips++, error));
        }
    }
done:
    jnaReport_EndSection(r);
    return result;
}
