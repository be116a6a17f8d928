// The stages of a build, one after the other: when a workspace needs them, whether they are up to date, what they cost
// and how they run.
//
// The costs are what was measured on one core of an ordinary server; they only have to be right against each other.
#include "pipeline/build_internal.h"

#include "base/path.h"
#include "base/try.h"
#include "learn/network.h"
#include "pipeline/stage_train.h"
#include "workspace/stage.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Seconds of one core of the stages that are not shared out: at any rate; per node of the flesh, times its number over
// 10,000 to the power of `growth`; per vertex; per vertex and frame of all clips. Warrior.fbx, Soldier.glb and
// CesiumMan.glb took 6.3, 3.5 and 1.9 s for the volume and 12, 8.2 and 3.5 s for the modes.
typedef struct Cost {
    double once, node, growth, vertex, frame;
} Cost;
static const Cost importCost = {.once = 1}, volumeCost = {.once = 0.5, .node = 3.5e-4},
                  modesCost = {.once = 0.3, .node = 9e-4, .growth = 0.5, .frame = 8e-8},
                  exportCost = {.once = 0.1, .vertex = 1e-5};

// Of a pose and of a step in time with contact in flesh of 10,000 nodes, per node; of the training, per vertex and pose
// of every epoch; of the fit and of the evaluation, per vertex and frame; of the inspection, the same; of a
// report, and of a quick one.
#define POSE_COST 8e-5
#define STEP_COST 2.6e-5
#define TRAIN_COST 1e-8
#define FIT_COST 6e-6
#define EVALUATE_COST 3.2e-6
#define INSPECT_COST 6e-8
#define REPORT_COST 18.0
#define QUICK_COST 6.0
// Of a vertex that hangs on a lattice, in seconds, and the number of parts that doubles it: rays through the flesh meet
// them all.
#define LATTICE_COST 6e-5
#define NESTED_PARTS 100.0
// The finer the flesh is, the more iterations it takes.
#define POSE_GROWTH 0.5
#define STEP_GROWTH 0.6
// Poses that a training by the number of poses goes through, all epochs together, for each of them; least and most.
#define TRAIN_PASSES 512.0
#define TRAIN_LEAST 128e3
#define TRAIN_MOST 768e3
// Share of failed poses or frames that is told loudly.
#define MOST_FAILED 0.01

// Whether springs may hang on modes of the flesh; those of imported motion are found by the fit.
static bool IsModal(const jnaBuild* b)
{
    return b->manifest->springs.layer != jna_layerVertex && !jnaManifest_IsImported(b->manifest);
}

static bool HasNetwork(const jnaBuild* b)
{
    return b->manifest->network.kind != jn_networkNone;
}

// Whether a clip's motion is simulated: it is wanted and does not come with the clip.
static bool IsSimulated(const jnaManifestClip* clip)
{
    return clip->motion == NULL && clip->frames != 0;
}

static bool Always(const jnaBuild* b, char* reason)
{
    (void)b;
    (void)reason;
    return true;
}

static bool Because(bool needed, char* reason, const char* why)
{
    if (!needed) {
        snprintf(reason, JNA_NOTE_LENGTH, "%s", why);
    }
    return needed;
}

static bool HasFlesh(const jnaBuild* b, char* reason)
{
    return Because(!b->fleshless, reason, "the character has no flesh");
}

static bool NeedsMotion(const jnaBuild* b, char* reason)
{
    int count = 0, imported = 0;
    for (int i = 0; i < b->manifest->clipCount; ++i) {
        count += IsSimulated(&b->manifest->clips[i]);
        imported += b->manifest->clips[i].motion != NULL;
    }
    // Ground truth from elsewhere, and nothing that looks at our own flesh: clips without it are only played.
    if (jnaManifest_IsImported(b->manifest) || (imported > 0 && !IsModal(b) && !HasNetwork(b))) {
        return Because(false, reason, "motion is imported; clips without are only played");
    }
    return HasFlesh(b, reason) &&
           Because(b->manifest->springs.mode == jna_springsFitted, reason, "springs.mode is not fitted") &&
           Because(jnaBuild_Learns(b), reason, "no clip has the role train") &&
           Because(count > 0, reason, "the clips have imported motion");
}

static bool NeedsNetwork(const jnaBuild* b, char* reason)
{
    return HasFlesh(b, reason) && Because(HasNetwork(b), reason, "network.kind is none");
}

static bool NeedsPoses(const jnaBuild* b, char* reason)
{
    return NeedsNetwork(b, reason) &&
           Because(!jnaManifest_IsImported(b->manifest), reason, "the shapes to learn from are imported");
}

static bool NeedsVolume(const jnaBuild* b, char* reason)
{
    char ignored[JNA_NOTE_LENGTH];
    jnaBuildStage until = b->def->until;
    bool used = IsModal(b) || (NeedsPoses(b, ignored) && until >= jna_buildPoses) ||
                (NeedsMotion(b, ignored) && until >= jna_buildMotion);
    return Because(used || until == jna_buildVolume, reason, "no stage needs the volume");
}

static bool NeedsModes(const jnaBuild* b, char* reason)
{
    bool found = jnaManifest_IsImported(b->manifest) && b->manifest->springs.layer != jna_layerVertex;
    return Because(!found, reason, "the fit finds modes in the imported motion") &&
           Because(IsModal(b), reason, "springs.layer is vertex");
}

static bool NeedsFit(const jnaBuild* b, char* reason)
{
    return HasFlesh(b, reason) &&
           Because(b->manifest->springs.mode == jna_springsFitted, reason, "springs.mode is not fitted") &&
           Because(jnaBuild_Learns(b), reason,
               jnaManifest_IsImported(b->manifest) ? "no clip with the role train has motion"
                                                   : "no clip has the role train");
}

static bool NeedsReport(const jnaBuild* b, char* reason)
{
    return NeedsFit(b, reason) && Because(b->def->report != NULL, reason, "no report was requested");
}

static double Shared(const jnaBuild* b, double seconds)
{
    return seconds / b->threads;
}

static double CostOf(const jnaBuild* b, const Cost* cost)
{
    double frames = b->frameCount + b->importedFrames;
    return cost->once + cost->node * b->nodeCount * pow(b->nodeCount / 1e4, cost->growth) +
           b->vertexCount * (cost->vertex + cost->frame * frames);
}

static double CostImport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return CostOf(b, &importCost);
}

static double CostVolume(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    double skin = b->lattice ? LATTICE_COST * b->vertexCount * (1 + b->partCount / NESTED_PARTS) : 0;
    return CostOf(b, &volumeCost) + skin;
}

static double CostModes(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return CostOf(b, &modesCost);
}

// Sum of an array of times; 0 where there is none.
static double SumTimes(const jnaBuild* b, const char* name)
{
    char path[JNA_PATH_LENGTH];
    jnaArray times = {0};
    double sum = 0;
    if (jnaJoinPath(b->workspace->path, name, path, NULL) == jn_ok && jnaOpenArray(path, &times, NULL) == jn_ok) {
        for (size_t i = 0; i < times.count; ++i) {
            sum += jnaArray_Get(&times, i);
        }
        jnaCloseArray(&times);
    }
    return sum;
}

// A job's stage leaves a record of the time alone: the job knows itself whether it is up to date. The time is that of
// all its poses or frames, whichever run solved them, shared among the threads.
static jnResult RecordJob(
    const jnaBuild* b, const char* name, const jnaBuildStep* step, double coreSeconds, jnError* error)
{
    const jnaStage stage = {.name = name, .seconds = Shared(b, coreSeconds)};
    return step->made ? jnaStage_Record(b->workspace->path, &stage, error) : jn_ok;
}

static void TellFailures(jnaBuild* b, const char* what, const char* json, const jnaJobReport* report, int count)
{
    if (report->failedCount > MOST_FAILED * count) {
        jnaNotes_Add(b->notes, "%s: %d of %d failed; look at %s", what, report->failedCount, count, json);
    }
}

static bool WatchPoses(const jnaProgress* p, void* user)
{
    return jnaBuild_Tell(
        user, p->share, "%d of %d poses%s", p->done, p->total, p->waiting ? ", waiting for another run" : "");
}

static jnResult DoPoses(jnaBuild* b, bool look, jnaBuildStep* step, jnaJobReport* report, jnError* error)
{
    jnaSimulateDef def = jnaDefaultSimulateDef();
    def.threads = b->threads;
    def.look = look;
    def.watch = (jnaWatch){WatchPoses, b};
    JN_PASS(jnaBuild_Open(b, error));
    JN_PASS(jnaSimulatePoses(b->simulation, 0, &def, report, look ? NULL : b->notes, error));
    step->count = jnaManifest_PoseCount(b->manifest);
    return jn_ok;
}

static jnResult LookPoses(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaJobReport report = {0};
    jnResult result = DoPoses(b, true, step, &report, error);
    step->fresh = report.upToDate;
    step->left = report.left;
    snprintf(step->reason, sizeof(step->reason), step->fresh ? "up to date" : "%d of %d poses to solve", step->left,
        step->count);
    return result;
}

static jnResult RunPoses(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaJobReport report = {0};
    JN_PASS(DoPoses(b, false, step, &report, error));
    step->made = !report.upToDate;
    snprintf(step->reason, sizeof(step->reason), "%d poses solved", report.solved);
    TellFailures(b, "poses", "poses/poses.json", &report, step->count);
    return RecordJob(b, "poses", step, SumTimes(b, "poses/times.npy"), error);
}

static double CostPose(const jnaBuild* b)
{
    return POSE_COST * b->nodeCount * pow(b->nodeCount / 1e4, POSE_GROWTH);
}

static double CostPoses(const jnaBuild* b, const jnaBuildStep* step)
{
    int left = step->count > 0 ? step->left : jnaManifest_PoseCount(b->manifest);
    return 0.5 + Shared(b, CostPose(b) * left);
}

// The motion of all clips, of both kinds, and of the shakes, as one.
enum { MOST_MOTIONS = JNA_MAX_CLIPS + JNA_SHAKES };
typedef struct Motion {
    jnaBuild* build;
    int count;                         // with the shakes
    jnaClipRange ranges[MOST_MOTIONS]; // the longest first, so that none is left over for one core alone
    jnaJobReport still[MOST_MOTIONS];  // each frame for itself; none of a shake
    jnaJobReport moving[MOST_MOTIONS]; // in time
    int frames, before;                // of all; of the still ones that are done
    double weight;                     // of a frame in motion against an equilibrium
} Motion;

static int CompareRanges(const void* a, const void* b)
{
    const jnaClipRange *one = a, *other = b;
    return one->count != other->count ? other->count - one->count : one->clip - other->clip;
}

static bool WatchStill(const jnaProgress* p, void* user)
{
    const Motion* m = user;
    int done = m->before + p->done;
    return jnaBuild_Tell(m->build, done / ((1 + m->weight) * m->frames), "equilibrium of %d of %d frames%s", done,
        m->frames, p->waiting ? ", waiting for another run" : "");
}

static bool WatchMoving(const jnaProgress* p, void* user)
{
    const Motion* m = user;
    return jnaBuild_Tell(m->build, (m->frames + m->weight * p->done) / ((1 + m->weight) * m->frames),
        "motion of %d of %d frames%s", p->done, m->frames, p->waiting ? ", waiting for another run" : "");
}

// Of a frame in motion.
static double CostFrame(const jnaBuild* b)
{
    double steps =
        b->manifest->flesh.substeps > 0 ? b->manifest->flesh.substeps : ceil(JNA_STEPS_A_SECOND / b->manifest->rate);
    return STEP_COST * steps * b->nodeCount * pow(b->nodeCount / 1e4, STEP_GROWTH);
}

static bool IsShake(const jnaBuild* b, const jnaClipRange* range)
{
    return range->clip >= b->manifest->clipCount;
}

// Frames of all shakes.
static int ShakeFrames(const jnaBuild* b)
{
    return jnaManifest_Shakes(b->manifest) ? JNA_SHAKES * (int)ceil(b->manifest->springs.shake * b->manifest->rate) : 0;
}

static jnResult ListMotion(jnaBuild* b, Motion* m, jnError* error)
{
    m->build = b;
    m->weight = CostFrame(b) / CostPose(b);
    JN_PASS(jnaBuild_Open(b, error));
    for (int i = 0; i < b->manifest->clipCount; ++i) {
        jnaClipRange range = {0};
        if (IsSimulated(&b->manifest->clips[i])) {
            JN_PASS(jnaSimulation_Part(b->simulation, i, &range, error));
            m->ranges[m->count++] = range;
            m->frames += range.count;
        }
    }
    // In a plan the modes that a shake is of may not be there yet.
    if (jnaManifest_Shakes(b->manifest) && b->steps[jna_buildModes].fresh) {
        int shakes = 0;
        JN_PASS(jnaSimulation_ListShakes(b->simulation, m->ranges + m->count, &shakes, error));
        for (int i = 0; i < shakes; ++i) {
            m->frames += m->ranges[m->count++].count;
        }
    }
    qsort(m->ranges, (size_t)m->count, sizeof(m->ranges[0]), CompareRanges);
    return jn_ok;
}

static jnResult DoMotion(jnaBuild* b, bool look, Motion* m, jnError* error)
{
    jnaSimulateDef def = jnaDefaultSimulateDef();
    def.threads = b->threads;
    def.look = look;
    def.watch = (jnaWatch){WatchStill, m};
    JN_PASS(ListMotion(b, m, error));
    for (int i = 0; i < m->count; ++i) {
        if (IsShake(b, &m->ranges[i])) {
            m->still[i] = (jnaJobReport){.upToDate = true};
        } else {
            JN_PASS(jnaSimulateClip(b->simulation, &m->ranges[i], &def, &m->still[i], error));
        }
        m->before += m->ranges[i].count;
    }
    def.watch.tell = WatchMoving;
    return jnaSimulateMotions(b->simulation, m->count, m->ranges, &def, m->moving, error);
}

static jnResult LookMotion(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Motion* m = calloc(1, sizeof(*m));
    jnResult result = m != NULL ? DoMotion(b, true, m, error) : jnFail(error, jn_outOfMemory, "out of memory");
    step->fresh = result == jn_ok;
    if (jnaManifest_Shakes(b->manifest) && !b->steps[jna_buildModes].fresh) {
        step->fresh = false;
        step->count = step->left = ShakeFrames(b);
    }
    for (int i = 0; result == jn_ok && i < m->count; ++i) {
        step->count += (IsShake(b, &m->ranges[i]) ? 1 : 2) * m->ranges[i].count;
        step->left += m->still[i].left + m->moving[i].left;
        step->fresh = step->fresh && m->still[i].upToDate && m->moving[i].upToDate;
    }
    snprintf(step->reason, sizeof(step->reason), step->fresh ? "up to date" : "%d of %d frames to solve", step->left,
        step->count);
    free(m);
    return result;
}

static jnResult RunMotion(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    int solved = 0;
    double seconds = 0;
    Motion* m = calloc(1, sizeof(*m));
    jnResult result = m != NULL ? DoMotion(b, false, m, error) : jnFail(error, jn_outOfMemory, "out of memory");
    step->count = 0;
    for (int i = 0; result == jn_ok && i < m->count; ++i) {
        char folder[JNA_NAME_LENGTH + 16], file[JNA_NAME_LENGTH + 48];
        const char* name = jnaSimulation_Clip(b->simulation, m->ranges[i].clip)->name;
        bool shake = IsShake(b, &m->ranges[i]);
        jnaSimulation_Folder(b->simulation, m->ranges[i].clip, folder);
        step->made = step->made || !m->still[i].upToDate || !m->moving[i].upToDate;
        step->count += (shake ? 1 : 2) * m->ranges[i].count;
        solved += m->still[i].solved + m->moving[i].solved;
        static const char* const kinds[] = {"quasistatic", "dynamic"};
        for (int k = shake ? 1 : 0; k < 2; ++k) {
            snprintf(file, sizeof(file), "%s/%s.json", folder, kinds[k]);
            TellFailures(b, name, file, k == 0 ? &m->still[i] : &m->moving[i], m->ranges[i].count);
            snprintf(file, sizeof(file), "%s/%s_times.npy", folder, kinds[k]);
            seconds += SumTimes(b, file);
        }
    }
    free(m);
    snprintf(step->reason, sizeof(step->reason), "%d frames solved", solved);
    JN_PASS(result);
    return RecordJob(b, "motion", step, seconds, error);
}

static double CostMotion(const jnaBuild* b, const jnaBuildStep* step)
{
    double left = step->count > 0 ? (double)step->left / step->count : 1;
    double moving = CostFrame(b) * fmax(Shared(b, b->frameCount + ShakeFrames(b)), b->longestFrames);
    return 0.5 + left * (Shared(b, CostPose(b) * b->frameCount) + moving);
}

static void PrepareTrain(jnaBuild* b, jnaStageRun* run)
{
    b->train = jnaWorkspaceTrainDef(b->workspace);
    b->train.threads = b->threads;
    run->def = &b->train;
}

static void PrepareReport(jnaBuild* b, jnaStageRun* run)
{
    run->def = &b->def->quickReport;
}

static double CostTrain(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    double poses = jnaManifest_IsImported(b->manifest) ? b->importedFrames : jnaManifest_PoseCount(b->manifest),
           epochs = (double)b->manifest->network.epochs;
    double passes = epochs > 0 ? epochs * poses : fmin(fmax(TRAIN_PASSES * poses, TRAIN_LEAST), TRAIN_MOST);
    return 0.5 + Shared(b, TRAIN_COST * b->vertexCount * passes);
}

static double CostFit(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.5 + Shared(b, FIT_COST * b->vertexCount * b->trainFrames);
}

static double CostExport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return CostOf(b, &exportCost) + Shared(b, INSPECT_COST * b->vertexCount * (b->frameCount + b->importedFrames));
}

static double CostEvaluate(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.5 + Shared(b, EVALUATE_COST * b->vertexCount * (b->frameCount + b->importedFrames));
}

static double CostReport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return Shared(b, b->def->quickReport ? QUICK_COST : REPORT_COST);
}

const jnaBuildKind jnaBuildImport = {"import", Always, {&jnaImportStage}, .estimate = CostImport};
const jnaBuildKind jnaBuildVolume = {"volume", NeedsVolume, {&jnaVolumeStage, &jnaInsideStage}, .estimate = CostVolume};
const jnaBuildKind jnaBuildModes = {"modes", NeedsModes, {&jnaModesStage, &jnaOffsetsStage}, .estimate = CostModes};
const jnaBuildKind jnaBuildPoses = {"poses", NeedsPoses, .look = LookPoses, .run = RunPoses, .estimate = CostPoses};
const jnaBuildKind jnaBuildMotion = {
    "motion", NeedsMotion, .look = LookMotion, .run = RunMotion, .estimate = CostMotion};
const jnaBuildKind jnaBuildTrain = {
    "train", NeedsNetwork, {&jnaTrainStage, &jnaMeasureStage}, PrepareTrain, .estimate = CostTrain};
const jnaBuildKind jnaBuildFit = {"fit", NeedsFit, {&jnaFitStage}, .estimate = CostFit};
const jnaBuildKind jnaBuildExport = {"export", Always, {&jnaExportStage, &jnaInspectStage}, .estimate = CostExport};
const jnaBuildKind jnaBuildEvaluate = {"evaluate", NeedsFit, {&jnaEvaluateStage}, .estimate = CostEvaluate};
const jnaBuildKind jnaBuildReport = {"report", NeedsReport, .prepare = PrepareReport, .estimate = CostReport};

#define KIND(name) [jna_build##name] = &jnaBuild##name,
const jnaBuildKind* const jnaBuildKinds[jna_buildStageCount] = {JNA_STAGES(KIND)};
