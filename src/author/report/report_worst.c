// The first picture of a report: each clip at its worst frame, the whole figure, skinned, ours and simulated, so that a
// person sees what numbers over all vertices hide. The worst frame is the one in which any vertex, ours or simulated,
// is farthest from where the pose alone has it.
#include "report/report_internal.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 3, MOST_CLIPS = 12 };

static double Distance(const float* a, const float* b)
{
    double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return sqrt(x * x + y * y + z * z);
}

void jnaReport_KeepWorst(const Report* r, ReportClip* clip, const ReportFrame* f)
{
    ReportWorst* worst = &clip->worst;
    double most[2] = {0};
    int at[2] = {0};
    if (worst->surfaces == NULL) {
        return;
    }
    for (int v = 0; v < r->character->vertexCount; ++v) {
        const float* targets = f->target + 3 * (size_t)v;
        double lengths[2] = {
            Distance(f->ours + 3 * (size_t)v, targets), Distance(f->simulated + 3 * (size_t)v, targets)};
        for (int k = 0; k < 2; ++k) {
            if (!isfinite(lengths[k])) {
                return; // a frame that failed cannot be drawn
            }
            if (lengths[k] > most[k]) {
                most[k] = lengths[k];
                at[k] = v;
            }
        }
    }
    if (worst->frame >= 0 && fmax(most[0], most[1]) <= fmax(worst->offsets[0], worst->offsets[1])) {
        return;
    }
    const float* surfaces[PANELS] = {f->skinned, f->ours, f->simulated};
    size_t row = 3 * (size_t)r->character->vertexCount;
    worst->frame = f->index;
    for (int k = 0; k < 2; ++k) {
        worst->offsets[k] = most[k];
        worst->vertices[k] = at[k];
    }
    for (int i = 0; i < PANELS; ++i) {
        memcpy(worst->surfaces + row * (size_t)i, surfaces[i], row * sizeof(float));
    }
}

jnResult jnaReport_BeginWorst(const Report* r, ReportClip* clip, jnError* error)
{
    clip->worst = (ReportWorst){
        .frame = -1, .surfaces = malloc(PANELS * 3 * sizeof(float) * ((size_t)r->character->vertexCount + 1))};
    return clip->worst.surfaces != NULL ? jn_ok : jnaReport_OutOfMemory(error);
}

static jnResult DrawClip(Report* r, const ReportClip* clip, int number, float* matrices, jnError* error)
{
    const ReportWorst* worst = &clip->worst;
    jnaPictureMesh meshes[PANELS];
    char labels[PANELS][96] = {"skinned"};
    static const char* const names[2] = {"Jounce", "simulated"};
    for (int k = 0; k < 2; ++k) {
        snprintf(labels[k + 1], sizeof(labels[0]), "%s, up to %.0f mm at %.40s", names[k], 1e3 * worst->offsets[k],
            jnaReport_RegionOf(r, worst->vertices[k]));
    }
    float facing = jnaReport_Facing(r, clip->clip, clip->first + worst->frame, matrices);
    for (int i = 0; i < PANELS; ++i) {
        const float* positions = worst->surfaces + 3 * (size_t)r->character->vertexCount * (size_t)i;
        meshes[i] = jnaPictureCharacter(r->character, positions, r->triangleColors);
        meshes[i].turn = -facing - 30;
        meshes[i].panel = i;
        jnaPictureMesh_Center(&meshes[i]);
    }
    // All stand where the skinned one does: what differs is what moved.
    for (int i = 1; i < PANELS; ++i) {
        memcpy(meshes[i].offset, meshes[0].offset, sizeof(meshes[i].offset));
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 440);
    def.columns = PANELS;
    jnaPictureDef_Frame(&def, meshes, PANELS);
    jnaPicture picture = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaDrawPicture(&def, meshes, PANELS, &picture, error));
    fprintf(r->out, "<figure id=\"worst-%d\"><h3>", number);
    jnaReport_Text(r->out, clip->name);
    fprintf(r->out, ", %s, frame %d, %.2f s</h3>\n<div class=\"row\" style=\"--least:200px\">\n",
        clip->trained ? "seen" : "unseen", clip->first + worst->frame, (clip->first + worst->frame) / clip->clip->rate);
    JN_TRY(jnaReport_Panels(r, &picture, PANELS, labels, error));
    fputs("</div></figure>\n", r->out);
done:
    jnaDestroyPicture(&picture);
    return result;
}

jnResult jnaReport_Worst(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    int drawn = 0, left = 0;
    float* matrices = malloc(12 * ((size_t)r->character->jointCount + 1) * sizeof(float));
    if (matrices == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    jnaReport_BeginSection(r, "worst", "The worst frame of each clip");
    if (r->played) {
        fputs("<p>The frame in which any point of the skin, as the runtime plays it (<i>Jounce</i>) or simulated, is "
              "farthest from the target surface of the pose. Look for joints that bend the wrong way, skin that tears "
              "and "
              "mouths that open.</p>\n",
            r->out);
    } else {
        jnaReport_Missing(r,
            "no frames to show: they need simulated motion and the file that plays, jounce simulate %s --clips "
            "--dynamic && jounce build %s",
            r->workspace, r->workspace);
    }
    for (int i = 0; i < r->clipCount; ++i) {
        const ReportClip* clip = &r->clips[i];
        if (clip->worst.surfaces == NULL || clip->worst.frame < 0) {
            continue;
        }
        if (drawn >= MOST_CLIPS) {
            left++;
            continue;
        }
        JN_TRY(DrawClip(r, clip, drawn++, matrices, error));
        if (!jnaReport_Progress(r, r->share + 0.2 / r->clipCount)) {
            JN_TRY(jnFail(error, jn_cancelled, "the report was cancelled"));
        }
    }
done:
    if (left > 0) {
        fprintf(r->out, "<p>%d more clips have motion: at most %d are drawn.</p>\n", left, (int)MOST_CLIPS);
    }
    jnaReport_EndSection(r);
    free(matrices);
    return result;
}
