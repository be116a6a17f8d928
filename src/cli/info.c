// jounce info: what a character file holds and what playing it costs.
#include "cli.h"

#include "asset/asset_writer.h"
#include "base/clock.h"
#include "base/input.h"
#include "base/try.h"
#include "jounce/jounce.h"
#include "workspace/store.h"

#include "measure.h"
#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { TIMED_STEPS = 40 };

typedef struct Range {
    double low, high;
} Range;

// What is worked out beside what the asset says itself.
typedef struct Facts {
    Range hertz, ratio, bounds[3];
    double influences; // a vertex, on average
    size_t instanceBytes;
    double stepSeconds;   // the fastest step with normals
    double unevenSeconds; // the same where every step has another length
    double plainSeconds;  // as the first, without the network
    double weightSeconds; // the fastest step that gives weights alone
    int sourcePoints;     // of the file that a workspace was made from; 0: not known
} Facts;

static void Widen(Range* range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static jnResult Measure(const jnAsset* a, Facts* facts, jnError* error)
{
    jnCharacterDef def = jnDefaultCharacterDef(a);
    jnCharacter* character;
    size_t files = (size_t)a->fileVertexCount, joints = (size_t)a->jointCount;
    size_t weights = (size_t)(a->componentCount + a->modeCount);
    float* out = malloc((6 * files + weights) * sizeof(float) + 1);
    float* pose = malloc(10 * joints * sizeof(float));
    jnResult result = jn_ok;
    JN_TRY(out != NULL && pose != NULL ? jnCreateCharacter(&def, &character, error)
                                       : jnFail(error, jn_outOfMemory, "out of memory"));
    double* const fastest[] = {&facts->stepSeconds, &facts->unevenSeconds, &facts->plainSeconds, &facts->weightSeconds};
    facts->stepSeconds = facts->unevenSeconds = facts->plainSeconds = facts->weightSeconds = HUGE_VAL;
    for (int n = 0; n < 4 * TIMED_STEPS; ++n) {
        int kind = n / TIMED_STEPS;
        jnCharacterInput input = {.h = 1.0f / a->rate + (kind == 1 ? 1e-5f * (float)(1 + n % 7) : 0.0f)};
        if (a->clipCount > 0) {
            jnAsset_SampleClip(a, 0, n / (double)a->rate, pose, pose + 4 * joints, pose + 7 * joints);
            input.pose = (jnPose){.rotations = pose, .translations = pose + 4 * joints, .scales = pose + 7 * joints};
        }
        jnCharacter_SetNetworkStrength(character, kind != 2 ? 1.0f : 0.0f);
        jnCharacterOutput output = {.positions = out, .normals = out + 3 * files};
        output = kind < 3 && files > 0 ? output : (jnCharacterOutput){.weights = out + 6 * files};
        double start = jnaWallClock();
        jnCharacter_Step(character, &input, &output);
        *fastest[kind] = fmin(*fastest[kind], jnaWallClock() - start);
    }
    jnDestroyCharacter(character);
done:
    free(out);
    free(pose);
    return result;
}

static jnResult FindFacts(const jnAsset* a, Facts* facts, jnError* error)
{
    const Range none = {HUGE_VAL, -HUGE_VAL};
    *facts = (Facts){.hertz = none, .ratio = none, .bounds = {none, none, none}};
    for (int i = 0; i < 3 && a->vertexCount == 0; ++i) {
        facts->bounds[i] = (Range){0};
    }
    facts->hertz = facts->ratio = a->vertexCount == 0 ? (Range){0} : none;
    for (int v = 0; v < a->vertexCount; ++v) {
        Widen(&facts->hertz, (double)jnHertzFromStiffness(a->stiffness[v]));
        Widen(&facts->ratio, (double)jnRatioFromDamping(a->stiffness[v], a->damping[v]));
        for (int axis = 0; axis < 3; ++axis) {
            Widen(&facts->bounds[axis], (double)a->rest[4 * (size_t)v + (size_t)axis]);
        }
    }
    facts->influences = a->blockCount > 0 ? (double)a->influenceStarts[a->blockCount] / a->blockCount : 0;
    jnCharacterDef def = jnDefaultCharacterDef(a);
    facts->instanceBytes = jnCharacter_ByteCount(&def);
    return Measure(a, facts, error);
}

static const char* SkinningName(const jnAsset* a)
{
    return a->skinning == jn_skinDual ? "dual quaternions" : "linear blend";
}

static const char* const curves[] = {"step", "linear", "cubic"};
// Frequencies of the modes, and the share of vertices that a mode has on average.
static Range ModeHertz(const jnAssetModes* m, double* density, int vertexCount)
{
    Range hertz = {HUGE_VAL, -HUGE_VAL};
    *density = 0;
    for (int k = 0; k < m->modeCount; ++k) {
        Widen(&hertz, (double)jnHertzFromStiffness(m->modes[k].stiffness));
        *density += (double)m->modes[k].vertexCount / m->modeCount / (vertexCount > 0 ? vertexCount : 1);
    }
    return hertz;
}

static void PrintModes(const jnAsset* a)
{
    double density;
    if (a->modes == NULL) {
        return;
    }
    Range hertz = ModeHertz(a->modes, &density, a->vertexCount);
    if (a->vertexCount == 0) {
        printf("  modes     %d, %.3g to %.3g Hz, driven by %d joints\n", a->modes->modeCount, hertz.low, hertz.high,
            a->modes->driverCount);
        return;
    }
    printf("  modes     %d vibration modes, %.3g to %.3g Hz; each moves %.0f %% of the vertices on average; %s\n",
        a->modes->modeCount, hertz.low, hertz.high, 100 * density,
        a->modes->modes[0].cap > 0.0f ? "their travel is limited" : "their travel is not limited");
    printf("            driven by %d joints; rotation couples %d pairs of modes\n", a->modes->driverCount,
        a->modes->pairCount);
}

void jncPrintPoints(long long source, long long welded, long long split)
{
    if (source > 0) {
        printf("  points    %lld in the source, %lld welded, %lld split at seams and corners\n", source, welded, split);
    }
}

// Points of a workspace's source; 0: not known, or no workspace.
static int FindSourcePoints(const char* workspace)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/character/character.json", workspace);
    json_t* root = jnaReadJson(path, 0, NULL);
    json_int_t count = json_integer_value(json_object_get(root, "source_points"));
    json_decref(root);
    return count > 0 && count < INT32_MAX ? (int)count : 0;
}

static void PrintSurface(const jnAsset* a, const Facts* facts)
{
    if (a->vertexCount == 0) {
        printf("  surface   none: the file gives %d morph weights, from %d joints\n", a->componentCount + a->modeCount,
            a->jointCount);
        return;
    }
    printf("  surface   %d vertices (%d in the file), %d triangles, %d normals, %d parts, %s\n", a->vertexCount,
        a->fileVertexCount, a->triangleCount, a->normalCount, a->partCount, a->uvs != NULL ? "UVs" : "no UVs");
    jncPrintPoints(facts->sourcePoints, a->vertexCount, a->fileVertexCount);
    printf("  size      %.3f x %.3f x %.3f m\n", facts->bounds[0].high - facts->bounds[0].low,
        facts->bounds[1].high - facts->bounds[1].low, facts->bounds[2].high - facts->bounds[2].low);
    printf("  rig       %d joints, %s, %.1f influences a vertex\n", a->jointCount, SkinningName(a), facts->influences);
    if (a->springCount > 0 && a->modes == NULL) {
        printf("  springs   %d of %d vertices, %.3g to %.3g Hz, damping ratio %.3g to %.3g, %s curve, %s\n",
            a->springCount, a->vertexCount, facts->hertz.low, facts->hertz.high, facts->ratio.low, facts->ratio.high,
            curves[a->curve], a->timing == jn_timingExact ? "exact" : "causal");
    } else if (a->modes == NULL) {
        printf("  springs   none: the surface follows its targets\n");
    }
}

// What parts are is in the workspace; a file alone has their names.
static const char* RoleOf(const jnaCharacter* whole, const jnAsset* a, int part)
{
    return whole->partCount == a->partCount ? jnaMeshRoleNames[whole->parts[part].role] : NULL;
}

static void PrintParts(const jnAsset* a, const jnaCharacter* whole)
{
    for (int i = 0; i < a->partCount && a->partCount > 1; ++i) {
        const jnAssetPart* part = &a->parts[i];
        const char* role = RoleOf(whole, a, i);
        printf("  %-9s %s: %d triangles%s%s%s%s\n", i == 0 ? "parts" : "", part->name, part->triangleCount,
            part->material[0] != '\0' ? ", material " : "", part->material, role != NULL ? ", " : "",
            role != NULL ? role : "");
    }
}

static void PrintTargets(const jnAsset* a)
{
    for (int i = 0; i < a->targetCount; ++i) {
        printf("%s%s%s", i == 0 ? "  targets   " : ", ", a->targets[i].name, i + 1 == a->targetCount ? "\n" : "");
    }
}

static void PrintText(const char* path, const jnAsset* a, const jnaCharacter* whole, const Facts* facts)
{
    printf("%s: '%s', %zu bytes, format version %d\n", path, a->name, a->byteCount, JN_ASSET_VERSION);
    PrintSurface(a, facts);
    PrintParts(a, whole);
    PrintTargets(a);
    PrintModes(a);
    if (a->driverCount > 0) {
        printf("  detail    coarse level: %d springs are stepped, %d vertices follow them\n", a->driverCount,
            a->springCount - a->driverCount);
    }
    if (a->network != jn_networkNone) {
        printf("  network   %s, %zu bytes; error %.3g mm rms on held-out poses; %.0f us of each step on this machine\n",
            jnNetworkNames[a->network], a->networkByteCount, 1000.0 * (double)a->networkError,
            (facts->stepSeconds - facts->plainSeconds) * 1e6);
    }
    for (int i = 0; i < a->clipCount; ++i) {
        jnAssetClip clip = jnAsset_Clip(a, i);
        printf("  %-9s %s: %d frames at %g Hz, %.2f s%s, for %s\n", i == 0 ? "clips" : "", clip.name, clip.frameCount,
            clip.rate, clip.frameCount / clip.rate, clip.looping ? ", looping" : "",
            clip.isTest ? "testing" : "training");
    }
    for (int i = 0; i < jnAsset_SectionCount(a); ++i) {
        jnAssetSection section = jnAsset_Section(a, i);
        printf("  %-9s %s %10zu bytes%s\n", i == 0 ? "sections" : "", section.id, section.size,
            section.required ? "" : "  optional");
    }
    printf("  cost      %zu bytes per instance; on one core of this machine a step%s takes %.0f us",
        facts->instanceBytes, a->vertexCount > 0 ? " with normals" : "", facts->stepSeconds * 1e6);
    if (a->morphs != NULL && a->vertexCount > 0) {
        printf(", one that computes only morph weights %.1f us", facts->weightSeconds * 1e6);
    }
    printf("\n");
}

static json_t* PackRange(Range range)
{
    return isfinite(range.high) ? json_pack("[f, f]", range.low, range.high) : json_pack("[f, n]", range.low);
}

static json_t* PackParts(const jnAsset* a, const jnaCharacter* whole)
{
    json_t* list = json_array();
    for (int i = 0; i < a->partCount; ++i) {
        const jnAssetPart* part = &a->parts[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s?}", "name", part->name, "material", part->material,
                                        "triangles", part->triangleCount, "role", RoleOf(whole, a, i)));
    }
    return list;
}

static json_t* PackTargets(const jnAsset* a)
{
    json_t* list = json_array();
    for (int i = 0; i < a->targetCount; ++i) {
        json_array_append_new(list, json_string(a->targets[i].name));
    }
    return list;
}

static void PrintJson(const jnAsset* a, const jnaCharacter* whole, const Facts* facts)
{
    json_t* root = json_pack("{s:s, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:f, s:b, s:f}", "name",
        a->name, "bytes", (json_int_t)a->byteCount, "version", JN_ASSET_VERSION, "vertices", a->vertexCount,
        "fileVertices", a->fileVertexCount, "triangles", a->triangleCount, "normals", a->normalCount, "joints",
        a->jointCount, "springs", a->springCount, "parts", a->partCount, "skinning",
        a->skinning == jn_skinDual ? "dual" : "linear", "curve", curves[a->curve], "mode",
        a->timing == jn_timingExact ? "exact" : "causal", "rate", (double)a->rate, "uvs", a->uvs != NULL, "influences",
        facts->influences);
    json_t *clips = json_array(), *sections = json_object(), *bounds = json_array();
    for (int i = 0; i < a->clipCount; ++i) {
        jnAssetClip clip = jnAsset_Clip(a, i);
        json_array_append_new(
            clips, json_pack("{s:s, s:i, s:f, s:b, s:s}", "name", clip.name, "frames", clip.frameCount, "rate",
                       clip.rate, "looping", clip.looping, "role", clip.isTest ? "test" : "train"));
    }
    for (int i = 0; i < jnAsset_SectionCount(a); ++i) {
        jnAssetSection section = jnAsset_Section(a, i);
        json_object_set_new(sections, section.id, json_integer((json_int_t)section.size));
    }
    for (int axis = 0; axis < 3; ++axis) {
        json_array_append_new(bounds, PackRange(facts->bounds[axis]));
    }
    json_object_set_new(
        root, "sourcePoints", facts->sourcePoints > 0 ? json_integer(facts->sourcePoints) : json_null());
    json_object_set_new(root, "drivers", json_integer(a->driverCount));
    if (a->network != jn_networkNone) {
        json_object_set_new(root, "network",
            json_pack("{s:s, s:I, s:f, s:f}", "kind", jnNetworkNames[a->network], "bytes",
                (json_int_t)a->networkByteCount, "error", (double)a->networkError, "microseconds",
                (facts->stepSeconds - facts->plainSeconds) * 1e6));
    }
    json_object_set_new(root, "hertz", PackRange(facts->hertz));
    json_object_set_new(root, "ratio", PackRange(facts->ratio));
    json_object_set_new(root, "bounds", bounds);
    if (a->modes != NULL) {
        double density;
        Range modeHertz = ModeHertz(a->modes, &density, a->vertexCount);
        json_object_set_new(root, "modes",
            json_pack("{s:i, s:o, s:f, s:i, s:i, s:b}", "count", a->modes->modeCount, "hertz", PackRange(modeHertz),
                "density", density, "drivers", a->modes->driverCount, "pairs", a->modes->pairCount, "capped",
                (int)(a->modes->modes[0].cap > 0.0f)));
    }
    json_object_set_new(root, "layer", json_string(a->modes == NULL ? "vertex" : "modal"));
    json_object_set_new(root, "componentCount", json_integer(a->componentCount));
    json_object_set_new(root, "modeCount", json_integer(a->modeCount));
    json_object_set_new(root, "targets", PackTargets(a));
    json_object_set_new(root, "partList", PackParts(a, whole));
    json_object_set_new(root, "clips", clips);
    json_object_set_new(root, "sections", sections);
    json_object_set_new(root, "instanceBytes", json_integer((json_int_t)facts->instanceBytes));
    json_object_set_new(root, "stepMicroseconds", json_real(facts->stepSeconds * 1e6));
    json_object_set_new(root, "unevenStepMicroseconds", json_real(facts->unevenSeconds * 1e6));
    json_object_set_new(
        root, "weightsMicroseconds", a->morphs != NULL ? json_real(facts->weightSeconds * 1e6) : json_null());
    json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(root);
}

int jncInfo(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce info FILE.jounce|WORKSPACE [--shells] [--json]",
        .about =

            "Prints what a character file contains: counts, ranges, clips, bytes of each section, and the measured "
            "cost of one\n"
            "step on this machine. With --shells it lists the connected shells of a workspace's character instead, "
            "with "
            "the numbers that\n"
            "`parts:` of the manifest takes, and what each was taken for.\n",
        .example = "  jounce info figure.jounce\n",
    };
    const char* path = NULL;
    bool json = false, shells = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("FILE", path, NULL, "a .jounce file, or a workspace"), .required = true},
        {JNC_FLAG("--shells", shells, "list the connected shells of a workspace's character")},
        {JNC_FLAG("--json", json, "print as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (shells) {
        return jncInfoShells(path, json);
    }
    char buffer[4096];
    const char* workspace = path;
    path = jncCharacterFile(path, buffer, sizeof(buffer));
    jnaAssetFile file = {0};
    jnaCharacter whole = {0};
    jnError error = {0};
    Facts facts = {0};
    jnResult result = jn_ok;
    JN_TRY(jncExpectCharacter(workspace, path, &error));
    JN_TRY(jnaOpenAsset(path, &file, &error));
    JN_TRY(FindFacts(file.asset, &facts, &error));
    facts.sourcePoints = path == buffer ? FindSourcePoints(workspace) : 0;
    if (workspace != path) {
        (void)jnaLoadWholeCharacter(workspace, &whole, NULL);
    }
    if (json) {
        PrintJson(file.asset, &whole, &facts);
    } else {
        PrintText(path, file.asset, &whole, &facts);
    }
done:
    jnaDestroyCharacter(&whole);
    jnaCloseAsset(&file);
    return jncEnd(result, &error);
}
