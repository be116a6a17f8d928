// jounce export -o FILE.glb: a character for engines and viewers.
#include "export_glb.h"

#include "cli.h"

#include <math.h>
#include <string.h>

// Of the file, unless the line says otherwise.
#define DEFAULT_BUDGET 20.0

jncGlbRequest jncDefaultGlb(void)
{
    return (jncGlbRequest){.components = -1, .modes = -1, .budget = DEFAULT_BUDGET};
}

bool jncIsGlb(const char* path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".glb") == 0;
}

static void Print(const char* path, const jnaEngineReport* r)
{
    printf("%s: %d pose and %d mode targets, %d animations with weights, %.2f MB (targets %.2f MB)\n", path,
        r->components, r->modes, r->animationCount, 1e-6 * (double)r->byteCount, 1e-6 * (double)r->targetBytes);
    if (r->components + r->modes == 0) {
        printf("  note: no morph targets: the file moves as skinning alone\n");
        return;
    }
    printf("  targets   reproduce %.2f %% of the motion of the clips\n", 100 * r->captured);
    printf("  weights   from -%.3f to %.3f: do not clamp them to 0 to 1\n", r->largestWeight, r->largestWeight);
    if (r->influenceError > 0) {
        printf("  joints    %d a vertex; leaving out the others moves a vertex by %.2f mm at most\n", r->influences,
            1e3 * r->influenceError);
    }
    if (r->dual) {
        printf("  skinning  made for dual quaternions, but a .glb is skinned by linear blend: that differs by %.2f mm "
               "at most "
               "(%s, frame %d), %.3f mm rms\n",
            1e3 * r->linearFarthest, r->linearClip[0] != '\0' ? r->linearClip : "no clip", r->linearFrame,
            1e3 * r->linearRms);
    }
    if (isfinite(r->explains)) {
        printf("  modes     explain %.2f of the motion that they were learned for (springs per vertex %.2f)%s\n",
            r->explains, r->vertexExplains, r->standIn ? "; they stand in for springs per vertex" : "");
    }
    if (r->fallback) {
        printf("  note: %s\n", JNA_FALLBACK_NOTE);
    }
}

int jncExportGlb(const char* workspace, const char* path, const jnaExportDef* how, const jncGlbRequest* request)
{
    jnError error;
    jnaEngineReport report;
    jnaEngineDef def = jnaDefaultEngineDef(NULL);
    def.components = (int)request->components;
    def.modes = (int)request->modes;
    def.influences = (int)request->influences;
    def.budget = 1e6 * request->budget;
    def.plain = request->plain;
    def.seamless = request->seamless;
    char beside[4096];
    snprintf(beside, sizeof(beside), "%.*s.weights.jounce", (int)(strlen(path) - strlen(".glb")), path);
    def.sidecar = request->sidecar != NULL ? request->sidecar : beside;
    if (jnaExportEngine(workspace, path, how, &def, &report, &error) != jn_ok) {
        return jncFail(&error);
    }
    Print(path, &report);
    printf("  live      %s, %.0f kB: the same weights from jnCharacter_Step\n", def.sidecar,
        1e-3 * (double)report.sidecarBytes);
    return JNC_DONE;
}
