// The stage "inspect": the exported character played in all its clips, as numbers in surface.json and the worst frame
// in preview.png. It follows the export, so that what is looked at is the file that ships.
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "draw/preview_picture.h"
#include "pipeline/engine.h"
#include "pipeline/inspection.h"
#include "pipeline/inspection_store.h"
#include "pipeline/stage_export.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

// Clips that a build warns of by name.
enum { MOST_WARNINGS = 3 };

static double Millimetres(double metres)
{
    return round(1e5 * metres) / 100;
}

static json_t* DescribeMotion(const jnaInspection* in, const jnaClipInspection* clip)
{
    json_t* motion = json_object();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        if (in->sizes[r] > 0) {
            json_object_set_new(motion, jnaRegionNames[r], json_real(Millimetres(clip->motion[r])));
        }
    }
    json_object_set_new(motion, "whole", json_real(Millimetres(clip->whole)));
    return motion;
}

static json_t* DescribeClip(const jnaInspection* in, const jnaClipInspection* clip)
{
    char place[96], broken[96] = "";
    if (clip->brokenFrame >= 0) {
        (void)jnaInspection_Place(in, clip->brokenVertex, broken);
    }
    return json_pack("{s:s, s:s, s:i, s:I, s:I, s:f, s:i, s:f, s:i, s:s, s:i, s:s, s:f, s:o}", "name", clip->name,
        "role", clip->isTest ? "test" : "train", "frames", clip->frameCount, "flipped", (json_int_t)clip->flipped,
        "torn", (json_int_t)clip->torn, "torn_in_a_million",
        jnaInspection_TornInAMillion(in, clip->torn, clip->frameCount), "bad_frames", clip->badFrames, "largest_mm",
        Millimetres(clip->largest), "worst_frame", clip->frame, "place", jnaInspection_Place(in, clip->vertex, place),
        "broken_frame", clip->brokenFrame, "broken_place", broken, "travel_mm", Millimetres(clip->travel), "motion_mm",
        DescribeMotion(in, clip));
}

json_t* jnaInspection_Describe(const jnaInspection* in)
{
    jnaNotes notes = {0};
    json_t *clips = json_array(), *lines = json_array();
    jnaInspection_Tell(in, MOST_WARNINGS, &notes);
    for (int i = 0; i < in->clipCount; ++i) {
        json_array_append_new(clips, DescribeClip(in, &in->clips[i]));
    }
    for (int i = 0; i < notes.count; ++i) {
        json_array_append_new(lines, json_string(notes.lines[i]));
    }
    jnaDestroyNotes(&notes);
    return json_pack("{s:i, s:s, s:i, s:i, s:I, s:I, s:I, s:f, s:b, s:b, s:o, s:o}", "format", 1, "against",
        in->againstTargets ? "target" : "skinned", "triangles", in->triangleCount, "edges", in->edgeCount, "frames",
        (json_int_t)in->frameCount, "flipped", (json_int_t)in->flipped, "torn", (json_int_t)in->torn,
        "torn_in_a_million", jnaInspection_TornInAMillion(in, in->torn, in->frameCount), "whole",
        jnaInspection_IsWhole(in), "still", in->still, "clips", clips, "notes", lines);
}

void jnaTellSurface(const char* workspace, jnaNotes* notes)
{
    json_t* root = NULL;
    size_t i;
    json_t* line;
    (void)jnaLoadJson(workspace, JNA_SURFACE_NAME, &root, NULL);
    json_array_foreach(json_object_get(root, "notes"), i, line)
    {
        if (json_is_string(line)) {
            jnaNotes_Add(notes, "%s", json_string_value(line));
        }
    }
    json_decref(root);
}

jnResult jnaDrawWorst(jnaWorkspace* w, const jnaInspection* in, int panelHeight, jnaPicture* picture, jnError* error)
{
    const jnaClipInspection* clip = &in->clips[in->worst];
    const jnaCharacter* c = in->character;
    int frame = jnaClipInspection_Worst(clip), vertex = clip->brokenFrame >= 0 ? clip->brokenVertex : clip->vertex;
    char caption[256], place[96];
    jnaBreaks breaks = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    float* compared = jnaArena_Take(&arena, c->vertexCount, 3 * sizeof(float));
    float* shown = jnaArena_Take(&arena, c->vertexCount, 3 * sizeof(float));
    uint8_t* marks = jnaArena_Take(&arena, c->triangleCount, 1);
    uint8_t* moved = jnaArena_Take(&arena, c->vertexCount, 1);
    *picture = (jnaPicture){0};
    JN_TRY(jnaArena_Check(&arena, "a preview", error));
    JN_TRY(jnaInspectFrame(w, in->worst, frame, compared, shown, error));
    JN_TRY(jnaMakeBreaks(c, NULL, &breaks, error));
    jnaBreakCount count = jnaBreaks_Count(&breaks, compared, shown, moved);
    jnaBreaks_Mark(&breaks, compared, shown, marks);
    snprintf(caption, sizeof(caption), "%.60s, frame %d: %d flipped, %d torn, largest offset %.1f mm; seen at %s",
        clip->name, frame, count.flipped, count.torn, 1e3 * count.largest, jnaInspection_Place(in, vertex, place));
    const jnaPreview preview = {.character = c,
        .compared = compared,
        .shown = shown,
        .marks = marks,
        .vertex = vertex,
        .comparedName = in->againstTargets ? "target" : "skinned",
        .caption = caption,
        .panelHeight = panelHeight};
    JN_TRY(jnaDrawPreview(&preview, picture, error));
done:
    jnaDestroyBreaks(&breaks);
    jnaReleaseArena(&arena);
    return result;
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    const jnaWorkspace* w = run->workspace;
    (void)error;
    jnaStage_Read(stage, NULL, "%s", JNA_ASSET_NAME);
    jnaStage_Read(stage, NULL, "stages/import.json");
    jnaStage_Read(stage, w->path, "stages/volume.json");
    jnaStage_Make(stage, JNA_SURFACE_NAME);
    if (w->manifest.clipCount > 0) {
        jnaStage_Make(stage, JNA_PREVIEW_NAME);
    }
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    char path[JNA_PATH_LENGTH];
    jnaInspection in = {0};
    jnaPicture picture = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaInspectWorkspace(w, &in, error));
    if (in.worst >= 0) {
        JN_TRY(jnaDrawWorst(w, &in, 0, &picture, error));
        JN_TRY(jnaJoinPath(w->path, JNA_PREVIEW_NAME, path, error));
        JN_TRY(jnaPicture_Write(&picture, path, error));
    }
    JN_TRY(jnaSaveJson(w->path, JNA_SURFACE_NAME, jnaInspection_Describe(&in), 6, error));
done:
    jnaDestroyPicture(&picture);
    jnaDestroyInspection(&in);
    return result;
}

const jnaStageKind jnaInspectStage = {"inspect", Describe, Run};
