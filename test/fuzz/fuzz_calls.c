// Any calls in any order, with any numbers: what comes out is finite, and the same bytes by the widest kernel one by
// one, by the plain kernel in a batch, and by a character that was restored from a snapshot.
//
// The first byte chooses asset, detail and timing; then a byte a call and its numbers.
#include "golden_assets.h"

#include <math.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { MOST_FLOATS = 4096, MOST_CALLS = 24, TWINS = 2 };

typedef struct Input {
    const uint8_t* at;
    size_t left;
} Input;

// The same calls go to both; the second is stepped in a batch, with a third that is of no interest.
typedef struct Twins {
    jnCharacter* characters[TWINS];
    jnCharacter* other;
    float out[TWINS + 1][MOST_FLOATS];
    char* snapshot;
    size_t snapshotSize;
    bool saved;
} Twins;

static uint8_t Byte(Input* in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

// Mostly what a game would give, sometimes what it never would.
static float Choose(Input* in, const float* odd, int count)
{
    uint8_t choice = Byte(in);
    if (choice >= 240) {
        return odd[(choice - 240) % count];
    }
    return (float)((choice - 120) / 60.0 + Byte(in) / 4096.0);
}

static float Number(Input* in)
{
    static const float odd[] = {
        0, -0.0f, NAN, INFINITY, -INFINITY, 1e-30f, -1e-10f, 1e-6f, 100, -1e4f, 1e9f, -1e20f, 3e38f};
    return Choose(in, odd, sizeof(odd) / sizeof(odd[0]));
}

// A pose may have numbers of any size.
static float PoseNumber(Input* in)
{
    static const float odd[] = {0, NAN, -INFINITY, 1e-30f, 1e-6f, -100, 1e4f, 1e6f, -1e7f, 1e9f, 1e15f, -1e30f, 3e38f};
    return Choose(in, odd, sizeof(odd) / sizeof(odd[0]));
}

static void Numbers(Input* in, float* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        numbers[i] = Number(in);
    }
}

static void PoseNumbers(Input* in, float* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        numbers[i] = PoseNumber(in);
    }
}

typedef struct Posed {
    float rotations[4 * GOLDEN_JOINTS], translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    float matrices[12 * GOLDEN_JOINTS];
    jnTransform root;
    jnPose pose;
} Posed;

static void ReadPose(Input* in, const jnAsset* asset, Posed* p)
{
    uint8_t what = Byte(in);
    jnAsset_SampleClip(asset, 0, (double)Byte(in) / 30, p->rotations, p->translations, p->scales);
    p->pose = (jnPose){.rotations = p->rotations, .translations = p->translations};
    if ((what & 1) != 0) {
        PoseNumbers(in, p->root.position, 3);
        PoseNumbers(in, p->root.rotation, 4);
        p->pose.root = &p->root;
    }
    if ((what & 2) != 0) {
        p->pose.scales = p->scales;
    }
    if ((what & 12) == 12) {
        PoseNumbers(in, p->matrices, 12 * GOLDEN_JOINTS);
        p->pose.matrices = p->matrices;
    } else if ((what & 12) == 4) {
        p->rotations[Byte(in) % (4 * GOLDEN_JOINTS)] = PoseNumber(in);
        p->translations[Byte(in) % (3 * GOLDEN_JOINTS)] = PoseNumber(in);
    }
}

static jnCharacterOutput OutputAt(const jnAsset* asset, float* to)
{
    size_t points = 3 * (size_t)asset->fileVertexCount;
    return (jnCharacterOutput){.positions = to, .velocities = to + points, .normals = to + 2 * points};
}

static void Compare(const jnAsset* asset, const Twins* t)
{
    size_t count = 9 * (size_t)asset->fileVertexCount;
    if (memcmp(t->out[0], t->out[1], count * sizeof(float)) != 0) {
        abort();
    }
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(t->out[0][i])) {
            fprintf(stderr, "number %zu of %zu is %g\n", i, count, (double)t->out[0][i]);
            abort();
        }
    }
}

static void Step(Twins* t, Input* in, const jnAsset* asset)
{
    Posed posed;
    jnCharacterInput input = {.h = Number(in), .teleport = (jnTeleport)(Byte(in) % 3)};
    if (Byte(in) < 128) {
        input.h = 1.0f / 60;
    }
    ReadPose(in, asset, &posed);
    input.pose = posed.pose;
    jnCharacterOutput outputs[TWINS + 1];
    for (int i = 0; i <= TWINS; ++i) {
        outputs[i] = OutputAt(asset, t->out[i]);
    }
    jnCharacter_Step(t->characters[0], &input, &outputs[0]);
    jnStepCharacters((jnCharacter*[]){t->other, t->characters[1]}, (jnCharacterInput[]){input, input},
        (jnCharacterOutput[]){outputs[2], outputs[1]}, 2);
    Compare(asset, t);
}

// A snapshot of the first; the second goes on from it.
static void SaveAndRestore(Twins* t, Input* in)
{
    uint8_t what = Byte(in);
    jnError error;
    if (what < 100 || !t->saved) {
        jnCharacter_Save(t->characters[0], t->snapshot);
        t->saved = true;
    }
    if (what >= 200) { // altered: refused, or the same as it was
        size_t at = (size_t)Byte(in) * 251 % t->snapshotSize;
        char old = t->snapshot[at];
        t->snapshot[at] = (char)(old ^ (char)(1 + Byte(in) % 255));
        if (jnCharacter_Restore(t->other, t->snapshot, t->snapshotSize, &error) == jn_ok) {
            abort();
        }
        t->snapshot[at] = old;
    } else {
        for (int i = 0; i < TWINS; ++i) {
            if (jnCharacter_Restore(t->characters[i], t->snapshot, t->snapshotSize, &error) != jn_ok) {
                abort();
            }
        }
    }
}

static void Set(jnCharacter* c, uint8_t call, const float* n, int joint)
{
    switch (call) {
    case 0:
        jnCharacter_SetForce(c, n);
        break;
    case 1:
        jnCharacter_SetInertia(c, n[0], n[1]);
        break;
    case 2:
        jnCharacter_SetTeleportThreshold(c, n[0], (jnTeleport)(joint % 3));
        break;
    case 3:
        jnCharacter_SetCap(c, n[0]);
        break;
    case 4:
        jnCharacter_SetStrength(c, joint - 2, n[0], NULL);
        break;
    case 5:
        jnCharacter_AddImpulse(c, 23 * joint % jnCharacter_Asset(c)->vertexCount, n);
        break;
    case 6:
        jnCharacter_AddImpulseSphere(c, n, n[3], n + 4);
        break;
    case 7:
        jnCharacter_TuneModes(c, joint - 2, n[0], n[1], n[2]);
        jnCharacter_TuneMode(c, joint - 2, n[2], n[1], n[0]);
        break;
    case 8:
        jnCharacter_ScaleModeCaps(c, n[0]);
        break;
    case 9:
        jnCharacter_SetLevel(c, joint - 1, 7 - joint, n[0]);
        break;
    default:
        jnCharacter_SetNetworkStrength(c, n[0]);
        break;
    }
}

// What shows the state in another way, or puts it somewhere else.
static void Show(Twins* t, Input* in, const jnAsset* asset, uint8_t call)
{
    Posed posed;
    float number = Number(in);
    ReadPose(in, asset, &posed);
    memset(t->out, 0, sizeof(t->out));
    for (int i = 0; i < TWINS; ++i) {
        jnCharacterOutput output = OutputAt(asset, t->out[i]);
        switch (call) {
        case 0:
            jnCharacter_Reset(t->characters[i], &(jnCharacterInput){.pose = posed.pose}, &output);
            break;
        case 1:
            jnCharacter_Evaluate(t->characters[i], number, &output);
            break;
        case 2:
            jnCharacter_Settle(t->characters[i], (double)number, &output);
            break;
        case 3:
            jnCharacter_Finish(t->characters[i], &output);
            break;
        case 4:
            jnCharacter_Skin(t->characters[i], &posed.pose, &output);
            break;
        default:
            jnCharacter_Target(t->characters[i], &posed.pose, &output);
            break;
        }
    }
    Compare(asset, t);
}

static void Call(Twins* t, Input* in, const jnAsset* asset)
{
    uint8_t call = Byte(in) % 24;
    if (call < 10) {
        float numbers[7];
        int joint = Byte(in) % 8;
        Numbers(in, numbers, 7);
        for (int i = 0; i < TWINS; ++i) {
            Set(t->characters[i], call, numbers, joint);
        }
    } else if (call < 16) {
        Show(t, in, asset, (uint8_t)(call - 10));
    } else if (call < 18) {
        SaveAndRestore(t, in);
    } else {
        Step(t, in, asset);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Twins twins;
    Twins* t = &twins;
    Input in = {data, size};
    uint8_t first = Byte(&in);
    const jnAsset* asset = GoldenAsset(first % ASSETS);
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.timing = (first / 4) % 2 == 0 ? jn_timingExact : jn_timingCausal;
    def.detail = asset->driverCount > 0 && (first / 8) % 2 == 1 ? jn_detailCoarse : jn_detailFull;
    def.start = (first / 16) % 2 == 0 ? jn_startMoving : jn_startAtRest;
    for (int i = 0; i <= TWINS; ++i) {
        def.kernel = i == 1 ? jn_kernelBaseline : jn_kernelAuto;
        if (jnCreateCharacter(&def, i < TWINS ? &t->characters[i] : &t->other, NULL) != jn_ok) {
            abort();
        }
    }
    t->snapshotSize = jnCharacter_SnapshotSize(t->characters[0]);
    t->snapshot = malloc(t->snapshotSize);
    t->saved = false;
    if (t->snapshot == NULL || 9 * (size_t)asset->fileVertexCount > MOST_FLOATS) {
        abort();
    }
    for (int calls = 0; in.left > 0 && calls < MOST_CALLS; ++calls) {
        Call(t, &in, asset);
    }
    free(t->snapshot);
    jnDestroyCharacter(t->other);
    for (int i = 0; i < TWINS; ++i) {
        jnDestroyCharacter(t->characters[i]);
    }
    return 0;
}
