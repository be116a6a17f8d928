// jounce export -o FILE.glb: a character for engines and viewers.
#include "export_glb.h"

#include "cli.h"

#include "asset/engine_hosts.h"

#include <math.h>
#include <string.h>

jncGlbRequest jncDefaultGlb(void)
{
    return (jncGlbRequest){.components = -1, .modes = -1, .targets = -1, .influences = -1, .budget = -1};
}

bool jncIsGlb(const char* path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".glb") == 0;
}

// What the targets leave out, and what other numbers of them would.
static void PrintTargets(const jnaEngineReport* r)
{
    printf("  targets   reproduce %.2f %% of the motion of the clips", 100 * r->captured);
    if (r->rms > 0) {
        printf(", off by %.3f mm rms", 1e3 * r->rms);
    }
    printf("\n");
    for (int i = 0; i < JNA_TARGET_COUNTS && r->table.counts[i] > 0; ++i) {
        printf("            the best %3d: %.3f mm rms (the first %d of the character: %.3f mm)\n", r->table.counts[i],
            1e3 * r->table.best[i], r->table.counts[i], 1e3 * r->table.first[i]);
    }
}

static void Print(const char* path, const jnaEngineHost* host, const jnaEngineReport* r)
{
    char kinds[64] = "";
    if (r->components + r->modes > 0) {
        snprintf(kinds, sizeof(kinds), " (%d pose and %d mode)", r->components, r->modes);
    }
    printf("%s: for %s, %d targets%s, %d animations with weights, %.2f MB (targets %.2f MB)\n", path, host->name,
        r->targets, kinds, r->animationCount, 1e-6 * (double)r->byteCount, 1e-6 * (double)r->targetBytes);
    if (r->targets == 0) {
        printf("  note: no morph targets: the file moves as skinning alone\n");
        return;
    }
    PrintTargets(r);
    if (r->paired) {
        printf("  weights   from 0 to %.3f: each target has one for its positive and one for its negative weights\n",
            r->largestWeight);
    } else {
        printf("  weights   from -%.3f to %.3f: do not clamp them to 0 to 1\n", r->largestWeight, r->largestWeight);
    }
    if (host->gpuBytes > 0) {
        printf("  GPU       %.1f MB for the targets of a character, which all its copies share\n",
            1e-6 * (double)host->gpuBytes * r->vertices * r->targets);
    }
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
    const jnaEngineHost* host = jnaGetEngineHost(request->host);
    jnaUseEngineHost(host, &def);
    def.components = (int)request->components;
    def.modes = (int)request->modes;
    def.influences = request->influences >= 0 ? (int)request->influences : def.influences;
    def.targets = request->targets >= 0 ? (int)request->targets : def.targets;
    def.budget = request->budget >= 0 ? 1e6 * request->budget : def.budget;
    def.quantize = def.quantize && !request->plain;
    def.sparse = def.sparse && !request->plain;
    def.paired = def.paired || request->pairs;
    def.seamless = request->seamless;
    char beside[4096];
    snprintf(beside, sizeof(beside), "%.*s.weights.jounce", (int)(strlen(path) - strlen(".glb")), path);
    def.sidecar = request->sidecar != NULL ? request->sidecar : beside;
    if (jnaExportEngine(workspace, path, how, &def, &report, &error) != jn_ok) {
        return jncFail(&error);
    }
    Print(path, host, &report);
    if (report.sidecarBytes > 0) {
        printf("  live      %s, %.0f kB: the same weights from jnCharacter_Step\n", def.sidecar,
            1e-3 * (double)report.sidecarBytes);
    }
    return JNC_DONE;
}
