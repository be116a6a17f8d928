// The stages of a build, one after the other: when a workspace needs them, whether they are up to date, what they cost
// and how they run.
//
// The costs are what was measured on one core of an ordinary server; they only have to be right against each other.
#include "pipeline/build_internal.h"

#include "base/clock.h"
#include "base/path.h"
#include "learn/network.h"
#include "modes/modes.h"
#include "pipeline/evaluate.h"
#include "pipeline/offsets.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_fit.h"
#include "pipeline/stage_import.h"
#include "pipeline/stage_modes.h"
#include "pipeline/stage_train.h"
#include "pipeline/stage_volume.h"
#include "volume/tetrahedralize.h"
#include "workspace/stage.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Seconds of one core: of a pose with contact in flesh of 10,000 nodes, and of a step in time, per node; of the volume
// and of the modes, per node; of the training, per vertex and pose of every epoch; of the fit and of the evaluation,
// per vertex and frame; of a report, and of a quick one.
static const double POSE_COST = 4.8e-5, STEP_COST = 1.7e-5, VOLUME_COST = 1.3e-4, MODES_COST = 4.2e-4;
static const double TRAIN_COST = 1e-8, FIT_COST = 6e-6, EVALUATE_COST = 3.2e-6, REPORT_COST = 18, QUICK_COST = 6;
// Of a vertex that hangs on a lattice, in seconds, and the number of parts that doubles it: rays through the flesh meet
// them all.
static const double LATTICE_COST = 6e-5, NESTED_PARTS = 100;
// A pose takes the more iterations the finer the flesh is.
static const double POSE_GROWTH = 0.4;
// Poses that a training by the number of poses goes through, all epochs together, for each of them; least and most.
static const double TRAIN_PASSES = 512, TRAIN_LEAST = 128e3, TRAIN_MOST = 768e3;
// Share of failed poses or frames that is told loudly.
static const double MOST_FAILED = 0.01;

static bool IsModal(const jnaBuild* b)
{
    return b->manifest.springs.layer != jna_layerVertex;
}

static bool HasNetwork(const jnaBuild* b)
{
    return b->manifest.network.kind != jna_networkNone;
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
    int count = 0;
    for (int i = 0; i < b->manifest.clipCount; ++i) {
        count += IsSimulated(&b->manifest.clips[i]);
    }
    return HasFlesh(b, reason) &&
           Because(b->manifest.springs.mode == jna_springsFitted, reason, "springs are set by hand") &&
           Because(jnaBuild_Learns(b), reason, "no clip is marked train") &&
           Because(count > 0, reason, "the clips bring their motion");
}

static bool NeedsVolume(const jnaBuild* b, char* reason)
{
    char ignored[JNA_NOTE_LENGTH];
    jnaBuildStage until = b->def->until;
    bool used = IsModal(b) || (HasNetwork(b) && until >= jna_buildPoses) ||
                (NeedsMotion(b, ignored) && until >= jna_buildMotion);
    return Because(used || until == jna_buildVolume, reason, "nothing needs the flesh inside");
}

static bool NeedsModes(const jnaBuild* b, char* reason)
{
    return Because(IsModal(b), reason, "springs are on vertices");
}

static bool NeedsPoses(const jnaBuild* b, char* reason)
{
    return HasFlesh(b, reason) && Because(HasNetwork(b), reason, "there is no network");
}

static bool NeedsFit(const jnaBuild* b, char* reason)
{
    return HasFlesh(b, reason) &&
           Because(b->manifest.springs.mode == jna_springsFitted, reason, "springs are set by hand") &&
           Because(jnaBuild_Learns(b), reason, "no clip is marked train");
}

static bool NeedsReport(const jnaBuild* b, char* reason)
{
    return NeedsFit(b, reason) && Because(b->def->report != NULL, reason, "nobody writes a report");
}

static bool TellShare(double share, void* user)
{
    return jnaBuild_Tell(user, share, "%s", "");
}

static double Shared(const jnaBuild* b, double seconds)
{
    return seconds / b->threads;
}

static jnResult LookImport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    bool stale = true;
    jnResult result = jnaImportIsStale(b->workspace, &b->manifest, &stale, step->reason, error);
    step->fresh = !stale;
    return result;
}

static jnResult RunImport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    const jnaWatch watch = {TellShare, b};
    return jnaUpdateWorkspace(b->workspace, &watch, &step->made, b->notes, error);
}

static double CostImport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)b;
    (void)step;
    return 1;
}

static jnResult LookVolume(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    bool stale = true;
    jnaVolumeDef def;
    jnResult result = jnaReadVolumeDef(b->workspace, &def, error);
    result = result == jn_ok ? jnaVolumeIsStale(b->workspace, &def, &stale, step->reason, error) : result;
    step->fresh = !stale;
    return result;
}

static jnResult RunVolume(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaVolumeDef def;
    jnaBuild_Close(b);
    jnResult result = jnaReadVolumeDef(b->workspace, &def, error);
    def.watch = (jnaWatch){TellShare, b};
    return result == jn_ok ? jnaUpdateVolume(b->workspace, &def, false, &step->made, NULL, b->notes, error) : result;
}

static double CostVolume(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    double skin = b->lattice ? LATTICE_COST * b->vertexCount * (1 + b->partCount / NESTED_PARTS) : 0;
    return 0.9 + VOLUME_COST * b->nodeCount + skin;
}

static jnResult LookModes(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    bool stale = true;
    jnaModesDef def;
    jnResult result = jnaReadModesDef(b->workspace, &def, error);
    result = result == jn_ok ? jnaModesAreStale(b->workspace, &def, &stale, step->reason, error) : result;
    if (result == jn_ok && !stale) {
        result = jnaOffsetsAreStale(b->workspace, &b->manifest, &stale, step->reason, error);
    }
    step->fresh = !stale;
    return result;
}

static jnResult RunModes(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaModesDef def;
    jnResult result = jnaReadModesDef(b->workspace, &def, error);
    def.watch = (jnaWatch){TellShare, b};
    result = result == jn_ok ? jnaUpdateModes(b->workspace, &def, false, &step->made, b->notes, error) : result;
    bool played = false;
    if (result == jn_ok) {
        result = jnaUpdateOffsets(b->workspace, &b->manifest, false, &played, NULL, b->notes, error);
    }
    step->made = step->made || played;
    return result;
}

static double CostModes(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.3 + MODES_COST * b->nodeCount;
}

// Sum of an array of times; 0 where there is none.
static double SumTimes(const jnaBuild* b, const char* name)
{
    char path[JNA_PATH_LENGTH];
    jnaArray times = {0};
    double sum = 0;
    if (jnaJoinPath(b->workspace, name, path, NULL) == jn_ok && jnaOpenArray(path, &times, NULL) == jn_ok) {
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
    return step->made ? jnaStage_Record(b->workspace, &stage, error) : jn_ok;
}

static void TellFailures(jnaBuild* b, const char* what, const char* json, const jnaJobReport* report, int count)
{
    if (report->failedCount > MOST_FAILED * count) {
        jnaNotes_Add(b->notes, "%s: %d of %d failed; look at %s", what, report->failedCount, count, json);
    }
}

static bool WatchPoses(const jnaJobProgress* p, void* user)
{
    return jnaBuild_Tell(user, p->total > 0 ? (double)p->done / p->total : 0, "%d of %d poses%s", p->done, p->total,
        p->waiting ? ", waiting for another run" : "");
}

static jnResult DoPoses(jnaBuild* b, bool look, jnaBuildStep* step, jnaJobReport* report, jnError* error)
{
    jnaSimulateDef def = jnaDefaultSimulateDef();
    def.threads = b->threads;
    def.look = look;
    def.watch = WatchPoses;
    def.watchUser = b;
    jnResult result = jnaBuild_Open(b, error);
    result = result == jn_ok ? jnaSimulatePoses(b->simulation, 0, &def, report, look ? NULL : b->notes, error) : result;
    step->count = jnaManifest_PoseCount(&b->manifest);
    return result;
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
    jnResult result = DoPoses(b, false, step, &report, error);
    if (result == jn_ok) {
        step->made = !report.upToDate;
        snprintf(step->reason, sizeof(step->reason), "%d poses solved", report.solved);
        TellFailures(b, "poses", "poses/poses.json", &report, step->count);
        result = RecordJob(b, "poses", step, SumTimes(b, "poses/times.npy"), error);
    }
    return result;
}

static double CostPose(const jnaBuild* b)
{
    return POSE_COST * b->nodeCount * pow(b->nodeCount / 1e4, POSE_GROWTH);
}

static double CostPoses(const jnaBuild* b, const jnaBuildStep* step)
{
    int left = step->count > 0 ? step->left : jnaManifest_PoseCount(&b->manifest);
    return 0.5 + Shared(b, CostPose(b) * left);
}

// The motion of all clips, of both kinds, as one.
typedef struct Motion {
    jnaBuild* build;
    int count;                          // clips
    jnaClipRange ranges[JNA_MAX_CLIPS]; // the longest first, so that none is left over for one core alone
    jnaJobReport still[JNA_MAX_CLIPS];  // each frame for itself
    jnaJobReport moving[JNA_MAX_CLIPS]; // in time
    int frames, before;                 // of all clips; of the still ones that are done
    double weight;                      // of a frame in motion against an equilibrium
} Motion;

static int CompareRanges(const void* a, const void* b)
{
    const jnaClipRange *one = a, *other = b;
    return one->count != other->count ? other->count - one->count : one->clip - other->clip;
}

static bool WatchStill(const jnaJobProgress* p, void* user)
{
    const Motion* m = user;
    int done = m->before + p->done;
    return jnaBuild_Tell(m->build, done / ((1 + m->weight) * m->frames), "equilibrium of %d of %d frames%s", done,
        m->frames, p->waiting ? ", waiting for another run" : "");
}

static bool WatchMoving(const jnaJobProgress* p, void* user)
{
    const Motion* m = user;
    return jnaBuild_Tell(m->build, (m->frames + m->weight * p->done) / ((1 + m->weight) * m->frames),
        "motion of %d of %d frames%s", p->done, m->frames, p->waiting ? ", waiting for another run" : "");
}

// Of a frame in motion.
static double CostFrame(const jnaBuild* b)
{
    double steps =
        b->manifest.flesh.substeps > 0 ? b->manifest.flesh.substeps : ceil(JNA_STEPS_A_SECOND / b->manifest.rate);
    return STEP_COST * steps * b->nodeCount;
}

static jnResult ListMotion(jnaBuild* b, Motion* m, jnError* error)
{
    m->build = b;
    m->weight = CostFrame(b) / CostPose(b);
    jnResult result = jnaBuild_Open(b, error);
    for (int i = 0; result == jn_ok && i < b->manifest.clipCount; ++i) {
        jnaClipRange range = {0};
        if (IsSimulated(&b->manifest.clips[i])) {
            result = jnaSimulation_Part(b->simulation, i, &range, error);
            m->ranges[m->count++] = range;
            m->frames += range.count;
        }
    }
    qsort(m->ranges, (size_t)m->count, sizeof(m->ranges[0]), CompareRanges);
    return result;
}

static jnResult DoMotion(jnaBuild* b, bool look, Motion* m, jnError* error)
{
    jnaSimulateDef def = jnaDefaultSimulateDef();
    def.threads = b->threads;
    def.look = look;
    def.watch = WatchStill;
    def.watchUser = m;
    jnResult result = ListMotion(b, m, error);
    for (int i = 0; result == jn_ok && i < m->count; ++i) {
        result = jnaSimulateClip(b->simulation, &m->ranges[i], &def, &m->still[i], error);
        m->before += m->ranges[i].count;
    }
    def.watch = WatchMoving;
    return result == jn_ok ? jnaSimulateMotions(b->simulation, m->count, m->ranges, &def, m->moving, error) : result;
}

static jnResult LookMotion(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Motion* m = calloc(1, sizeof(*m));
    jnResult result = m != NULL ? DoMotion(b, true, m, error) : jnFail(error, jn_outOfMemory, "out of memory");
    step->fresh = result == jn_ok;
    for (int i = 0; result == jn_ok && i < m->count; ++i) {
        step->count += 2 * m->ranges[i].count;
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
        char file[JNA_NAME_LENGTH + 48];
        const char* name = b->manifest.clips[m->ranges[i].clip].name;
        step->made = step->made || !m->still[i].upToDate || !m->moving[i].upToDate;
        step->count += 2 * m->ranges[i].count;
        solved += m->still[i].solved + m->moving[i].solved;
        static const char* const kinds[] = {"quasistatic", "dynamic"};
        for (int k = 0; k < 2; ++k) {
            snprintf(file, sizeof(file), "motion/%s/%s.json", name, kinds[k]);
            TellFailures(b, name, file, k == 0 ? &m->still[i] : &m->moving[i], m->ranges[i].count);
            snprintf(file, sizeof(file), "motion/%s/%s_times.npy", name, kinds[k]);
            seconds += SumTimes(b, file);
        }
    }
    free(m);
    snprintf(step->reason, sizeof(step->reason), "%d frames solved", solved);
    return result == jn_ok ? RecordJob(b, "motion", step, seconds, error) : result;
}

static double CostMotion(const jnaBuild* b, const jnaBuildStep* step)
{
    double left = step->count > 0 ? (double)step->left / step->count : 1;
    double moving = CostFrame(b) * fmax(Shared(b, b->frameCount), b->longestFrames);
    return 0.5 + left * (Shared(b, CostPose(b) * b->frameCount) + moving);
}

static jnaTrainDef TrainDef(const jnaBuild* b)
{
    jnaTrainDef def = jnaDefaultTrainDef(b->manifest.network.kind);
    def.epochs = (int)b->manifest.network.epochs;
    return def;
}

static bool TellTraining(const jnaTrainProgress* p, void* user)
{
    return jnaBuild_Tell(user, p->epochs > 0 ? (double)p->epoch / p->epochs : 0, "epoch %d of %d, validation %.2f mm",
        p->epoch, p->epochs, 1000 * p->validation);
}

static jnResult LookTrain(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    bool stale = true;
    jnaTrainDef def = TrainDef(b);
    jnResult result = jnaNetworkIsStale(b->workspace, &b->manifest, &def, &stale, step->reason, error);
    step->fresh = !stale;
    return result;
}

static jnResult RunTrain(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaNetworkReport report;
    jnaTrainDef def = TrainDef(b);
    def.threads = b->threads;
    def.progress = TellTraining;
    def.user = b;
    step->reason[0] = '\0';
    return jnaTrainWorkspace(b->workspace, &def, false, &step->made, &report, b->notes, error);
}

static double CostTrain(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    double poses = jnaManifest_PoseCount(&b->manifest), epochs = (double)b->manifest.network.epochs;
    double passes = epochs > 0 ? epochs * poses : fmin(fmax(TRAIN_PASSES * poses, TRAIN_LEAST), TRAIN_MOST);
    return 0.5 + Shared(b, TRAIN_COST * b->vertexCount * passes);
}

static double CostFit(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.5 + Shared(b, FIT_COST * b->vertexCount * b->trainFrames);
}

// What the last stages read: whatever is there of motion, springs, network and modes.
typedef struct Inputs {
    int count;
    const char* names[2 * JNA_MAX_CLIPS + 16];
    char texts[2 * JNA_MAX_CLIPS][JNA_NAME_LENGTH + 32];
    char settings[JNA_MAX_CLIPS * (JNA_NAME_LENGTH + 32) + 256];
} Inputs;

static bool IsThere(const jnaBuild* b, const char* name)
{
    char path[JNA_PATH_LENGTH];
    return jnaJoinPath(b->workspace, name, path, NULL) == jn_ok && access(path, R_OK) == 0;
}

static void AddInput(const jnaBuild* b, Inputs* inputs, const char* name)
{
    if (IsThere(b, name)) {
        inputs->names[inputs->count++] = name;
    }
}

// The motion of the clips, by what the solver wrote about it or as the clip brings it.
static Inputs* ListInputs(const jnaBuild* b, jnError* error)
{
    static const char* const kinds[] = {"dynamic", "quasistatic"};
    Inputs* inputs = calloc(1, sizeof(*inputs));
    if (inputs == NULL) {
        (void)jnFail(error, jn_outOfMemory, "out of memory");
        return NULL;
    }
    size_t used = (size_t)snprintf(inputs->settings, sizeof(inputs->settings), "rate %.17g layer %d network %d\n",
        b->manifest.rate, (int)b->manifest.springs.layer, (int)b->manifest.network.kind);
    for (int i = 0; i < b->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &b->manifest.clips[i];
        used += (size_t)snprintf(inputs->settings + used, sizeof(inputs->settings) - used, "%s %d %d %d\n", clip->name,
            (int)clip->role, clip->first, clip->frames);
        for (int k = 0; k < 2; ++k) {
            char* text = inputs->texts[2 * i + k];
            if (clip->motion == NULL) {
                snprintf(text, sizeof(inputs->texts[0]), "motion/%s/%s.json", clip->name, kinds[k]);
            } else if (k == 0) {
                snprintf(text, sizeof(inputs->texts[0]), "clips/%s/motion.npy", clip->name);
            }
            if (text[0] != '\0') {
                AddInput(b, inputs, text);
            }
        }
    }
    return inputs;
}

// A fit knows itself what it is made from: until it is asked, its record is believed.
static jnResult LookFit(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    step->fresh = IsThere(b, "springs/stiffness.npy") && IsThere(b, "springs/damping.npy");
    return jnaStageRecord_Holds(b->workspace, "fit", &step->fresh, step->reason, error);
}

static jnResult RunFit(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    jnaWorkspaceFit fit = {0};
    jnaWorkspaceFitDef def = jnaDefaultWorkspaceFitDef();
    def.keep = true;
    def.threads = b->threads;
    def.progress = TellShare;
    def.user = b;
    jnResult result = jnaFitWorkspace(b->workspace, &def, &fit, NULL, error);
    step->made = fit.made;
    step->reason[0] = '\0';
    if (result == jn_ok) {
        jnaDestroyWorkspaceFit(&fit);
    }
    return result;
}

static jnResult LookExport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    bool stale = true;
    jnResult result = jnaAssetIsStale(b->workspace, &b->manifest, &stale, step->reason, error);
    step->fresh = !stale;
    return result;
}

static jnResult RunExport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    return jnaUpdateAsset(b->workspace, &b->manifest, &step->made, b->notes, error);
}

static double CostExport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.1 + 1e-5 * b->vertexCount;
}

// What an evaluation is made from: motion, and all that was learned.
static jnResult DescribeEvaluation(const jnaBuild* b, Inputs** inputs, jnaStage* stage, jnError* error)
{
    static const char* const outputs[] = {"evaluation/evaluation.json"};
    static const char* const learned[] = {"stages/import.json", "modes/modes.json", "modes/stiffness.npy",
        "modes/shapes.npy", "modes/caps.npy", "springs/fit.json", "springs/stiffness.npy", "springs/damping.npy",
        "springs/modal_stiffness.npy", "springs/modal_damping.npy", "springs/modal_gain.npy",
        "springs/rest_stiffness.npy", "springs/rest_damping.npy", "network/parameters.npy"};
    *inputs = ListInputs(b, error);
    if (*inputs == NULL) {
        return jn_outOfMemory;
    }
    for (size_t i = 0; i < sizeof(learned) / sizeof(learned[0]); ++i) {
        AddInput(b, *inputs, learned[i]);
    }
    *stage = (jnaStage){"evaluate", (*inputs)->count, (*inputs)->names, (*inputs)->settings, 1, outputs, 0};
    return jn_ok;
}

static jnResult LookEvaluate(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Inputs* inputs = NULL;
    jnaStage stage;
    bool stale = true;
    jnResult result = DescribeEvaluation(b, &inputs, &stage, error);
    result = result == jn_ok ? jnaStage_IsStale(b->workspace, &stage, &stale, step->reason, error) : result;
    step->fresh = !stale;
    free(inputs);
    return result;
}

static jnResult RunEvaluate(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Inputs* inputs = NULL;
    jnaStage stage;
    double started = jnaWallClock();
    jnResult result = DescribeEvaluation(b, &inputs, &stage, error);
    result = result == jn_ok ? jnaStage_IsStale(b->workspace, &stage, &step->made, NULL, error) : result;
    if (result == jn_ok && step->made) {
        jnaEvaluation evaluation;
        jnaEvaluateDef def = jnaDefaultEvaluateDef();
        def.threads = b->threads;
        def.progress = TellShare;
        def.user = b;
        result = jnaEvaluateWorkspace(b->workspace, &def, &evaluation, b->notes, error);
        if (result == jn_ok) {
            jnaDestroyEvaluation(&evaluation);
            stage.seconds = jnaWallClock() - started;
            result = jnaStage_Record(b->workspace, &stage, error);
        }
    }
    step->reason[0] = '\0';
    free(inputs);
    return result;
}

static double CostEvaluate(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return 0.5 + Shared(b, EVALUATE_COST * b->vertexCount * b->frameCount);
}

// A report is made from the evaluation, from the file that plays, and from what they were made from.
static jnResult DescribeReport(const jnaBuild* b, Inputs** inputs, jnaStage* stage, jnError* error)
{
    static const char* const outputs[] = {JNA_REPORT_NAME};
    static const char* const flesh[] = {"volume/nodes.npy", "volume/held_by.npy", "volume/hold_strength.npy",
        "volume/regions.npy", "volume/materials.npy"};
    jnResult result = DescribeEvaluation(b, inputs, stage, error);
    if (result == jn_ok) {
        for (size_t i = 0; i < sizeof(flesh) / sizeof(flesh[0]); ++i) {
            AddInput(b, *inputs, flesh[i]);
        }
        AddInput(b, *inputs, "evaluation/evaluation.json");
        AddInput(b, *inputs, JNA_ASSET_NAME);
        size_t used = strlen((*inputs)->settings);
        snprintf((*inputs)->settings + used, sizeof((*inputs)->settings) - used, "quick %d\nversion %s\n",
            b->def->quickReport, jnVersion());
        *stage = (jnaStage){"report", (*inputs)->count, (*inputs)->names, (*inputs)->settings, 1, outputs, 0};
    }
    return result;
}

static jnResult LookReport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Inputs* inputs = NULL;
    jnaStage stage;
    bool stale = true;
    jnResult result = DescribeReport(b, &inputs, &stage, error);
    result = result == jn_ok ? jnaStage_IsStale(b->workspace, &stage, &stale, step->reason, error) : result;
    step->fresh = !stale;
    free(inputs);
    return result;
}

static jnResult RunReport(jnaBuild* b, jnaBuildStep* step, jnError* error)
{
    Inputs* inputs = NULL;
    jnaStage stage;
    double started = jnaWallClock();
    jnResult result = DescribeReport(b, &inputs, &stage, error);
    result = result == jn_ok ? jnaStage_IsStale(b->workspace, &stage, &step->made, NULL, error) : result;
    if (result == jn_ok && step->made) {
        result = b->def->report(b->workspace, b->def, b->threads, TellShare, b, b->notes, error);
        stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(b->workspace, &stage, error) : result;
    }
    step->reason[0] = '\0';
    free(inputs);
    return result;
}

static double CostReport(const jnaBuild* b, const jnaBuildStep* step)
{
    (void)step;
    return Shared(b, b->def->quickReport ? QUICK_COST : REPORT_COST);
}

const jnaBuildKind jnaBuildKinds[jna_buildStageCount] = {
    [jna_buildImport] = {"import", Always, LookImport, RunImport, CostImport},
    [jna_buildVolume] = {"volume", NeedsVolume, LookVolume, RunVolume, CostVolume},
    [jna_buildModes] = {"modes", NeedsModes, LookModes, RunModes, CostModes},
    [jna_buildPoses] = {"poses", NeedsPoses, LookPoses, RunPoses, CostPoses},
    [jna_buildMotion] = {"motion", NeedsMotion, LookMotion, RunMotion, CostMotion},
    [jna_buildTrain] = {"train", NeedsPoses, LookTrain, RunTrain, CostTrain},
    [jna_buildFit] = {"fit", NeedsFit, LookFit, RunFit, CostFit},
    [jna_buildExport] = {"export", Always, LookExport, RunExport, CostExport},
    [jna_buildEvaluate] = {"evaluate", NeedsFit, LookEvaluate, RunEvaluate, CostEvaluate},
    [jna_buildReport] = {"report", NeedsReport, LookReport, RunReport, CostReport},
};
