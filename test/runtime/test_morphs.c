// Characters as morph weights: what the weights mean, that many are as one, that they may stand anywhere, travel as
// bytes and take anything.
#include "helpers/support.h"
#include "platforms/golden_asset.h"
#include "rig.h"

#include "jounce/jounce.h"

enum { RINGS = 21, SEGMENTS = 8, CROWD = 53, FRAMES = 40, MOST_WEIGHTS = 32 };

// A clip's pose at a time.
typedef struct Posed {
    float rotations[4 * GOLDEN_JOINTS], translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    jnTransform root;
    jnPose pose;
} Posed;

static char* bytes;
static jnAsset* asset;

static jnAsset* LoadKind(GoldenKind kind, char** own)
{
    size_t size;
    jnAsset* loaded = NULL;
    char* file = MakeGoldenAsset(kind, RINGS, SEGMENTS, &size);
    *own = aligned_alloc(64, (size + 63) / 64 * 64);
    memcpy(*own, file, size);
    free(file);
    (void)jnLoadAsset(&(jnAssetDef){.bytes = *own, .size = size}, &loaded, NULL);
    return loaded;
}

static int Load(void** state)
{
    (void)state;
    asset = LoadKind(golden_modes, &bytes);
    return asset != NULL ? 0 : 1;
}

static int Unload(void** state)
{
    (void)state;
    jnDestroyAsset(asset);
    free(bytes);
    return 0;
}

static void PoseAt(Posed* p, double time)
{
    jnAsset_SampleClip(asset, 0, time, p->rotations, p->translations, p->scales);
    p->root = (jnTransform){.position = {(float)(0.3 * sin(5 * time)), (float)(0.2 * sin(9 * time)), 0}};
    p->root.rotation[1] = (float)sin(0.4 * time);
    p->root.rotation[3] = (float)cos(0.4 * time);
    p->pose = (jnPose){.rotations = p->rotations, .translations = p->translations, .root = &p->root};
}

static jnCharacter* Make(jnTiming timing, bool weightsOnly)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* c;
    def.timing = timing;
    def.weightsOnly = weightsOnly;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    return c;
}

static void Step(jnCharacter* c, double time, const double* origin, const jnCharacterOutput* out)
{
    Posed p;
    PoseAt(&p, time);
    p.pose.origin = origin;
    jnCharacter_Step(c, &(jnCharacterInput){.h = 1.0f / 30, .pose = p.pose}, out);
}

// The skin of the rest surface with the targets times their weights, by the formula, is what the character shows.
static void WeightsAndTargetsAreTheSurface(void** state)
{
    (void)state;
    int vertices = asset->vertexCount, count = asset->componentCount + asset->modeCount;
    jnCharacter* c = Make(jn_timingCausal, false);
    float weights[MOST_WEIGHTS], *shown = malloc(12 * (size_t)vertices), *delta = malloc(12 * (size_t)vertices);
    double most = 0, *rest = calloc(3 * (size_t)vertices, sizeof(double)), matrices[12 * GOLDEN_JOINTS];
    for (int n = 0; n < 20; ++n) {
        Step(c, n / 30.0, NULL, &(jnCharacterOutput){.positions = shown, .weights = weights, .welded = true});
    }
    for (int w = 0; w < count; ++w) {
        jnAsset_MorphDeltas(asset, w, true, delta);
        int moved = jnAsset_SparseMorph(asset, w, true, 0.0f, NULL, NULL);
        assert_true(moved > 0 && moved <= vertices);
        for (int i = 0; i < 3 * vertices; ++i) {
            rest[i] += (double)weights[w] * (double)delta[i];
            most = fmax(most, fabs(rest[i]));
        }
    }
    assert_true(most > 1e-3 && fabsf(weights[asset->componentCount]) > 1e-4f);
    Posed p;
    PoseAt(&p, 19 / 30.0);
    assert_true(jnMakeGlobals(asset, &p.pose, matrices));
    jnToSurface(asset, matrices);
    for (int v = 0; v < vertices; ++v) {
        size_t b = (size_t)v / JN_LANES, influences = asset->influenceStarts[b + 1] - asset->influenceStarts[b];
        size_t at = (size_t)asset->influenceStarts[b] * JN_LANES + (size_t)v % JN_LANES * influences;
        for (int axis = 0; axis < 3; ++axis) {
            double x = 0;
            for (size_t k = 0; k < influences; ++k) {
                const double* row = matrices + 12 * (size_t)asset->influenceJoints[at + k] + 4 * axis;
                for (int i = 0; i < 3; ++i) {
                    x += (double)asset->influenceWeights[at + k] * row[i] *
                         ((double)asset->rest[4 * v + i] + rest[3 * v + i]);
                }
                x += (double)asset->influenceWeights[at + k] * row[3];
            }
            ASSERT_NEAR(shown[3 * v + axis], x, 1e-5);
        }
    }
    jnDestroyCharacter(c);
    free(shown);
    free(delta);
    free(rest);
}

// One by one, all at once, and in pieces of every size: the same bytes, weights alone or with a surface.
static void ManyAreAsOneOf(jnKernel kernel)
{
    jnCharacter *alone[CROWD], *together[CROWD];
    for (int i = 0; i < CROWD; ++i) {
        jnCharacterDef def = jnDefaultCharacterDef(asset);
        def.timing = i % 2 == 0 ? jn_timingCausal : jn_timingExact;
        def.modes = i >= 40 && i % 3 == 0 ? asset->modeCount - 1 : 0;
        def.weightsOnly = true;
        assert_int_equal(jnCreateCharacter(&def, &alone[i], NULL), jn_ok);
        def.weightsOnly = i % 3 != 0;
        def.kernel = kernel;
        assert_int_equal(jnCreateCharacter(&def, &together[i], NULL), jn_ok);
    }
    for (int n = 0; n < FRAMES; ++n) {
        static Posed poses[CROWD];
        float one[CROWD][MOST_WEIGHTS] = {{0}}, many[CROWD][MOST_WEIGHTS] = {{0}};
        jnCharacterInput inputs[CROWD];
        jnCharacterOutput outputs[CROWD];
        for (int i = 0; i < CROWD; ++i) {
            // Some rotate slowly, some many times as far in a step, and all in a batch by another angle.
            PoseAt(&poses[i], (i % 7 == 3 ? 30 : i % 5) * n / 30.0 + 0.3 * i);
            inputs[i] =
                (jnCharacterInput){.h = n % 9 == 8 ? 0.0f : 1.0f / (30 + (float)(i % 3)), .pose = poses[i].pose};
            inputs[i].teleport = (n + i) % 11 == 10 ? jn_teleportKeep : jn_teleportNone;
            outputs[i] = (jnCharacterOutput){.weights = many[i]};
            if (i % 10 == 4 && n % 12 == 6) { // fades that take from nothing to longer than until the next
                jnCharacter_SetLevel(alone[i], n % 5, n % 4, 0.02f * (float)(i + n));
                jnCharacter_SetLevel(together[i], n % 5, n % 4, 0.02f * (float)(i + n));
            }
            jnCharacter_Step(alone[i], &inputs[i], &(jnCharacterOutput){.weights = one[i]});
        }
        for (int first = 0, piece = n % 2 == 0 ? CROWD : 1 + n; first < CROWD; first += piece) {
            jnStepCharacters(
                together + first, inputs + first, outputs + first, CROWD - first < piece ? CROWD - first : piece);
        }
        assert_memory_equal(one, many, sizeof(one));
    }
    for (int i = 0; i < CROWD; ++i) {
        jnDestroyCharacter(alone[i]);
        jnDestroyCharacter(together[i]);
    }
}

static void ManyAreAsOne(void** state)
{
    (void)state;
    for (jnKernel kernel = jn_kernelBaseline; kernel <= jnBestKernel(); ++kernel) {
        ManyAreAsOneOf(kernel);
    }
}

// A hundred kilometres from the origin, and with an origin that moves: the same weights, the same surface about it.
static void ACharacterMayStandAnywhere(void** state)
{
    (void)state;
    size_t floats = 3 * (size_t)asset->vertexCount;
    float *here = malloc(4 * floats), *there = malloc(4 * floats), a[MOST_WEIGHTS], b[MOST_WEIGHTS];
    for (int moving = 0; moving < 2; ++moving) {
        jnCharacter *home = Make(jn_timingCausal, false), *far = Make(jn_timingCausal, false);
        double worst = 0;
        for (int n = 0; n < FRAMES; ++n) {
            // Where the coordinates begin jumps by kilometres; what is given of the root jumps the other way.
            const double origin[3] = {100000.0 + (moving && n % 2 ? 4096.0 : 0.0), -30000.0, 250.0};
            Posed p;
            PoseAt(&p, n / 30.0);
            jnCharacterInput input = {.h = 1.0f / 30, .pose = p.pose};
            jnCharacter_Step(home, &input, &(jnCharacterOutput){.positions = here, .weights = a, .welded = true});
            jnTransform root = p.root;
            double shift = moving && n % 2 ? 4096.0 : 0.0;
            root.position[0] = (float)((double)root.position[0] - shift);
            input.pose.root = shift != 0.0 ? &root : &p.root;
            input.pose.origin = origin;
            jnCharacter_Step(far, &input, &(jnCharacterOutput){.positions = there, .weights = b, .welded = true});
            for (int i = 0; !moving && i < asset->componentCount + asset->modeCount; ++i) {
                ASSERT_NEAR(a[i], b[i], 1e-5);
            }
            for (size_t i = 0; i < floats; ++i) {
                worst = fmax(worst, fabs((double)there[i] + (i % 3 == 0 ? shift : 0.0) - (double)here[i]));
            }
        }
        print_message("off by %.2g m\n", worst);
        ASSERT_AT_MOST(worst, moving ? 1e-2 : 1e-4); // floats of 4096 m are 0.5 mm apart, given and shown
        jnDestroyCharacter(home);
        jnDestroyCharacter(far);
    }
    free(here);
    free(there);
}

// A spring a vertex, a hundred kilometres from the origin: within 0.1 mm of where it would be at home. Where the
// coordinates begin may jump to and fro, with inertia that is scaled and without, and across a snapshot.
static void SpringsOfVerticesMayStandAnywhereToo(void** state)
{
    (void)state;
    const double origin[3] = {100000.0, -30000.0, 250.0};
    char* own;
    jnAsset *modal = asset, *linear = LoadKind(golden_linear, &own);
    asset = linear;
    assert_true(asset != NULL && asset->springCount > 0);
    size_t floats = 3 * (size_t)asset->vertexCount;
    float *here = malloc(4 * floats), *there = malloc(4 * floats);
    for (int kind = 0; kind < 4; ++kind) {
        jnCharacter *home = Make(jn_timingCausal, false), *far = Make(jn_timingCausal, false);
        double worst = 0, felt = 0;
        jnCharacter_SetInertia(home, kind < 2 ? 1.0f : 0.5f, kind < 2 ? 1.0f : 0.25f);
        jnCharacter_SetInertia(far, kind < 2 ? 1.0f : 0.5f, kind < 2 ? 1.0f : 0.25f);
        for (int n = 0; n < FRAMES; ++n) {
            float shift = kind % 2 == 1 ? (float)(n % 3) * 16.0f : 0.0f;
            const double moved[3] = {origin[0] + (double)shift, origin[1], origin[2]};
            Posed p;
            PoseAt(&p, n / 30.0);
            jnCharacterInput input = {.h = 1.0f / 30, .pose = p.pose};
            jnCharacter_Step(home, &input, &(jnCharacterOutput){.positions = here, .welded = true});
            p.root.position[0] -= shift;
            input.pose.origin = moved;
            jnCharacter_Step(far, &input, &(jnCharacterOutput){.positions = there, .welded = true});
            for (size_t i = 0; i < floats; ++i) {
                double off = fabs((double)there[i] + (i % 3 == 0 ? (double)shift : 0.0) - (double)here[i]);
                worst = fmax(worst, off);
            }
            jnCharacter_Skin(home, &p.pose, &(jnCharacterOutput){.positions = there, .welded = true});
            for (size_t i = 0; i < floats; ++i) {
                felt = fmax(felt, i % 3 != 0 ? fabs((double)there[i] - (double)here[i]) : 0.0);
            }
            if (n == FRAMES / 2) { // to one that stands elsewhere
                size_t size = jnCharacter_SnapshotSize(far);
                void* snapshot = malloc(size);
                jnCharacter_Save(far, snapshot);
                Step(far, 0.0, NULL, NULL);
                assert_int_equal(jnCharacter_Restore(far, snapshot, size, NULL), jn_ok);
                free(snapshot);
            }
        }
        print_message("off by %.2g m of %.2g m\n", worst, felt);
        ASSERT_AT_MOST(worst, 1e-4);
        assert_true(felt > 1e-3);
        jnDestroyCharacter(home);
        jnDestroyCharacter(far);
    }
    jnDestroyAsset(linear);
    asset = modal;
    free(here);
    free(there);
    free(own);
}

// Joints that are scaled, squashed flat or mirrored: weights stay finite and come back.
static void ScaledAndSingularJointsAreHarmless(void** state)
{
    (void)state;
    static const float sizes[][3] = {
        {2, 2, 2}, {1, 0.3f, 3}, {1e-6f, 1, 1}, {0, 1, 1}, {0, 0, 0}, {-1, 1, 1}, {1e-20f, 1e-20f, 1e-20f}};
    int count = asset->componentCount + asset->modeCount;
    for (size_t kind = 0; kind < sizeof(sizes) / sizeof(sizes[0]); ++kind) {
        jnCharacter *c = Make(jn_timingCausal, true), *calm = Make(jn_timingCausal, true);
        float weights[MOST_WEIGHTS], calmly[MOST_WEIGHTS];
        for (int n = 0; n < 240; ++n) {
            Posed p;
            PoseAt(&p, n / 30.0);
            for (int i = 0; n < 40 && i < 3; ++i) {
                p.scales[3 * (1 + n / 10) + i] = sizes[kind][i];
            }
            p.pose.scales = p.scales;
            jnCharacter_Step(
                c, &(jnCharacterInput){.h = 1.0f / 30, .pose = p.pose}, &(jnCharacterOutput){.weights = weights});
            PoseAt(&p, n / 30.0);
            p.pose.scales = p.scales;
            jnCharacter_Step(
                calm, &(jnCharacterInput){.h = 1.0f / 30, .pose = p.pose}, &(jnCharacterOutput){.weights = calmly});
            for (int i = 0; i < count; ++i) {
                assert_true(weights[i] - weights[i] == 0.0f); // finite
            }
        }
        for (int i = 0; i < count; ++i) {
            ASSERT_NEAR(weights[i], calmly[i], 1e-3);
        }
        jnDestroyCharacter(c);
        jnDestroyCharacter(calm);
    }
}

static void SnapshotsTravelAndAreChecked(void** state)
{
    (void)state;
    jnCharacter *c = Make(jn_timingCausal, true), *other = Make(jn_timingCausal, true),
                *exact = Make(jn_timingExact, true);
    size_t size = jnCharacter_SnapshotSize(c);
    char *snapshot = malloc(size), *again = malloc(size);
    float a[MOST_WEIGHTS] = {0}, b[MOST_WEIGHTS] = {0};
    assert_true(size < 8000);
    jnCharacter_SetInertia(c, 0.5f, 0.5f);
    jnCharacter_SetInertia(other, 0.5f, 0.5f);
    for (int n = 0; n < 15; ++n) {
        Step(c, n / 30.0, NULL, NULL);
    }
    jnCharacter_Save(c, snapshot);
    assert_int_equal(jnCharacter_Restore(other, snapshot, size, NULL), jn_ok);
    jnCharacter_Save(other, again);
    assert_memory_equal(snapshot, again, size);
    for (int n = 15; n < 30; ++n) {
        Step(c, n / 30.0, NULL, &(jnCharacterOutput){.weights = a});
        Step(other, n / 30.0, NULL, &(jnCharacterOutput){.weights = b});
        jnCharacter_Evaluate(c, 0.4f, &(jnCharacterOutput){.weights = a});
        jnCharacter_Evaluate(other, 0.4f, &(jnCharacterOutput){.weights = b});
        assert_memory_equal(a, b, sizeof(a));
    }
    for (size_t i = 0; i < size; ++i) {
        memcpy(again, snapshot, size);
        again[i] = (char)(again[i] ^ (1 << i % 8));
        assert_int_equal(jnCharacter_Restore(other, again, size, NULL), jn_badData);
    }
    for (size_t length = 0; length < size; length += 7) {
        assert_int_equal(jnCharacter_Restore(other, snapshot, length, NULL), jn_badData);
    }
    assert_int_equal(jnCharacter_Restore(exact, snapshot, size, NULL), jn_badData);
    jnDestroyCharacter(c);
    jnDestroyCharacter(other);
    jnDestroyCharacter(exact);
    free(snapshot);
    free(again);
}

// Times and poses that nobody would give: finite and bounded throughout, and sane again soon after. As many steps as
// JOUNCE_RANDOM_STEPS says.
static void NothingPoisonsACharacter(void** state)
{
    (void)state;
    static const float times[] = {1.0f / 30, 1e-12f, 0, -1, 1e9f, 1e-5f, 3, (float)NAN, (float)INFINITY, 0.5f};
    jnCharacter *c = Make(jn_timingCausal, true), *calm = Make(jn_timingCausal, true);
    Random random = {3};
    float weights[MOST_WEIGHTS], calmly[MOST_WEIGHTS];
    int count = asset->componentCount + asset->modeCount;
    const char* asked = getenv("JOUNCE_RANDOM_STEPS");
    int steps = asked != NULL ? atoi(asked) : 100000;
    for (int n = 0; n < steps; ++n) {
        Posed p;
        PoseAt(&p, (double)(NextBits(&random) % 1000) / 7.0);
        uint64_t kind = NextBits(&random) % 40, at = NextBits(&random) % (4 * GOLDEN_JOINTS);
        p.rotations[at] = kind == 0 ? (float)NAN : kind == 1 ? 1e30f : kind == 2 ? 0.0f : p.rotations[at];
        p.root.position[at % 3] = kind == 3 ? 1e20f : kind == 4 ? (float)INFINITY : p.root.position[at % 3];
        jnCharacterInput input = {.h = times[NextBits(&random) % 10], .pose = p.pose};
        input.teleport = (jnTeleport)(NextBits(&random) % 3);
        jnCharacter_Step(c, &input, &(jnCharacterOutput){.weights = weights});
        for (int i = 0; i < count; ++i) {
            assert_true(weights[i] - weights[i] == 0.0f); // finite
        }
    }
    assert_true(jnCharacter_BadPoseCount(c) > 100);
    for (int n = 0; n < 200; ++n) {
        Step(c, n / 30.0, NULL, &(jnCharacterOutput){.weights = weights});
        Step(calm, n / 30.0, NULL, &(jnCharacterOutput){.weights = calmly});
    }
    for (int i = 0; i < count; ++i) {
        ASSERT_NEAR(weights[i], calmly[i], 1e-3);
    }
    jnDestroyCharacter(c);
    jnDestroyCharacter(calm);
}

// Places, scales and origins that are finite and far too large, in steps of any length, on every layer: what comes out
// is finite, and good again after a reset.
static void AGiantPoseIsNone(void** state)
{
    (void)state;
    static const GoldenKind kinds[] = {golden_modes, golden_linear, golden_dual};
    static const float times[] = {1.0f / 30, 1e-6f, 1e5f, 0.5f};
    jnAsset* modal = asset;
    for (int kind = 0; kind < 3; ++kind) {
        char* own;
        Random random = {7};
        asset = LoadKind(kinds[kind], &own);
        assert_true(asset != NULL);
        size_t floats = 3 * (size_t)asset->fileVertexCount;
        float *out = calloc(3 * floats, 4), *calmly = calloc(floats, 4);
        jnCharacterOutput to = {.positions = out, .velocities = out + floats, .normals = out + 2 * floats};
        jnCharacter *c = Make(jn_timingCausal, false), *calm = Make(jn_timingCausal, false);
        for (int n = 0; n < 4000; ++n) {
            Posed p;
            PoseAt(&p, n / 30.0);
            size_t at = NextBits(&random) % (3 * GOLDEN_JOINTS);
            float size = (float)pow(10.0, (double)(NextBits(&random) % 770) / 20.0);
            double origin[3] = {0, 1e3 * (double)size * (double)size, 0};
            switch (NextBits(&random) % 4) {
            case 0:
                p.root.position[at % 3] = size;
                break;
            case 1:
                p.translations[at] = -size;
                break;
            case 2:
                p.scales[at] = size;
                p.pose.scales = p.scales;
                break;
            default:
                p.pose.origin = asset->springCount == 0 ? origin : NULL;
                break;
            }
            jnCharacterInput input = {.h = times[NextBits(&random) % 4], .pose = p.pose};
            jnCharacter_Step(c, &input, &to);
            for (size_t i = 0; i < 3 * floats; ++i) {
                assert_true(out[i] - out[i] == 0.0f); // finite
            }
        }
        assert_true(jnCharacter_BadPoseCount(c) > 1000);
        for (int n = 0; n < 20; ++n) {
            Posed p;
            PoseAt(&p, n / 30.0);
            jnCharacterInput input = {.h = 1.0f / 30, .pose = p.pose};
            input.teleport = n == 0 ? jn_teleportReset : jn_teleportNone;
            jnCharacter_Step(c, &input, &to);
            jnCharacter_Step(calm, &input, &(jnCharacterOutput){.positions = calmly});
        }
        for (size_t i = 0; i < floats; ++i) {
            ASSERT_NEAR(out[i], calmly[i], 1e-6);
        }
        jnDestroyCharacter(c);
        jnDestroyCharacter(calm);
        jnDestroyAsset(asset);
        free(own);
        free(out);
        free(calmly);
    }
    asset = modal;
}

// The first n of each: the others are 0, and an instance is smaller.
static void ALevelOfDetailTakesTheFirstWeights(void** state)
{
    (void)state;
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter *c, *all = Make(jn_timingCausal, true);
    float few[MOST_WEIGHTS], whole[MOST_WEIGHTS];
    def.weightsOnly = true;
    def.components = 3;
    def.modes = 2;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    for (int n = 0; n < 20; ++n) {
        Step(c, n / 30.0, NULL, &(jnCharacterOutput){.weights = few});
        Step(all, n / 30.0, NULL, &(jnCharacterOutput){.weights = whole});
    }
    for (int i = 0; i < asset->componentCount + asset->modeCount; ++i) {
        bool kept = i < asset->componentCount ? i < 3 : i < asset->componentCount + 2;
        assert_true(kept ? few[i] != 0.0f : few[i] == 0.0f);
        assert_true(i >= 3 || few[i] == whole[i]);
    }
    jnDestroyCharacter(c);
    jnDestroyCharacter(all);
}

// Steps to frame n with the level of detail that it brings: few from 10 on, faded over 0.4 s, and all from 40 on.
static void StepThroughLevels(jnCharacter* c, int n, float* weights)
{
    if (n == 10) {
        jnCharacter_SetLevel(c, 1, 1, 0.4f);
    }
    if (n == 40) {
        jnCharacter_SetLevel(c, 0, 0, 0.4f);
    }
    Step(c, n / 30.0, NULL, &(jnCharacterOutput){.weights = weights});
}

// Weights fade out, are gone, and come back without a jump to where they would be had they never left.
static void ALevelOfDetailChangesWhilePlaying(void** state)
{
    (void)state;
    enum { END = 160 };
    int first = asset->componentCount, count = first + asset->modeCount;
    jnCharacter *c = Make(jn_timingCausal, true), *all = Make(jn_timingCausal, true);
    float few[MOST_WEIGHTS] = {0}, whole[MOST_WEIGHTS] = {0}, before[2][MOST_WEIGHTS], most[2] = {0};
    for (int n = 0; n < END; ++n) {
        memcpy(before[0], few, sizeof(few));
        memcpy(before[1], whole, sizeof(whole));
        StepThroughLevels(c, n, few);
        Step(all, n / 30.0, NULL, &(jnCharacterOutput){.weights = whole});
        for (int i = 0; i < count; ++i) {
            bool kept = i == 0 || i == first, gone = n > 24 && n < 40;
            assert_true(!gone || kept || few[i] == 0.0f);
            assert_true(n >= 10 || few[i] == whole[i]);
            most[0] = n > 2 ? fmaxf(most[0], fabsf(few[i] - before[0][i])) : 0.0f;
            most[1] = n > 2 ? fmaxf(most[1], fabsf(whole[i] - before[1][i])) : 0.0f;
        }
    }
    for (int i = 0; i < count; ++i) {
        ASSERT_NEAR(few[i], whole[i], 2e-3);
    }
    print_message("changes a step: %.3g, without levels %.3g\n", (double)most[0], (double)most[1]);
    assert_true(most[0] < 1.25f * most[1]);
    jnDestroyCharacter(c);
    jnDestroyCharacter(all);
}

// Restored anywhere on the way, into a character of another level, all goes on with the same bytes; a reset ends fades.
static void SnapshotsKeepTheLevelOfDetail(void** state)
{
    (void)state;
    for (int stop = 12; stop < 52; stop += 5) {
        jnCharacter *c = Make(jn_timingCausal, true), *other = Make(jn_timingCausal, true);
        size_t size = jnCharacter_SnapshotSize(c);
        char* snapshot = malloc(size);
        float a[MOST_WEIGHTS] = {0}, b[MOST_WEIGHTS] = {0};
        for (int n = 0; n < stop; ++n) {
            StepThroughLevels(c, n, a);
        }
        Step(other, 0, NULL, NULL);
        jnCharacter_SetLevel(other, 2, 2, stop % 2 == 0 ? 0.0f : 1.0f);
        jnCharacter_Save(c, snapshot);
        assert_int_equal(jnCharacter_Restore(other, snapshot, size, NULL), jn_ok);
        for (int n = stop; n < 60; ++n) {
            StepThroughLevels(c, n, a);
            StepThroughLevels(other, n, b);
            assert_memory_equal(a, b, sizeof(a));
            jnCharacter_Evaluate(c, 0.4f, &(jnCharacterOutput){.weights = a});
            jnCharacter_Evaluate(other, 0.4f, &(jnCharacterOutput){.weights = b});
            assert_memory_equal(a, b, sizeof(a));
        }
        jnCharacter_SetLevel(c, 1, 1, 10.0f);
        Posed p;
        PoseAt(&p, 2.0);
        jnCharacter_Reset(c, &(jnCharacterInput){.pose = p.pose}, &(jnCharacterOutput){.weights = a});
        assert_true(a[0] != 0.0f && a[1] == 0.0f);
        jnDestroyCharacter(c);
        jnDestroyCharacter(other);
        free(snapshot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WeightsAndTargetsAreTheSurface),
        cmocka_unit_test(ManyAreAsOne),
        cmocka_unit_test(ACharacterMayStandAnywhere),
        cmocka_unit_test(SpringsOfVerticesMayStandAnywhereToo),
        cmocka_unit_test(ScaledAndSingularJointsAreHarmless),
        cmocka_unit_test(SnapshotsTravelAndAreChecked),
        cmocka_unit_test(NothingPoisonsACharacter),
        cmocka_unit_test(AGiantPoseIsNone),
        cmocka_unit_test(ALevelOfDetailTakesTheFirstWeights),
        cmocka_unit_test(ALevelOfDetailChangesWhilePlaying),
        cmocka_unit_test(SnapshotsKeepTheLevelOfDetail),
    };
    return cmocka_run_group_tests(tests, Load, Unload);
}
