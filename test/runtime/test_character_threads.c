// 64 characters of one asset: stepped by two threads, one by one or in batches, they are where they would be one after
// another. Built with -fsanitize=thread by test/project/threads.sh.
#include "helpers/tube.h"
#include "platforms/golden_asset.h"

#include "jounce/jounce.h"

#include <pthread.h>

enum { INSTANCES = 64, FRAMES = 30, THREADS = 2, OUTPUT = 9 * TUBE_VERTICES };

typedef struct Crowd {
    const jnAsset* asset;
    jnCharacter* characters[INSTANCES];
    float* outputs; // [INSTANCES][OUTPUT]
} Crowd;

typedef struct Share {
    Crowd* crowd;
    int first; // every THREADS-th instance from here on
} Share;

// Frame `frame` of an instance, each in its own rhythm.
static void StepInstance(Crowd* crowd, int instance, int frame)
{
    float rotations[TUBE_JOINTS * 4] = {0};
    for (int j = 0; j < TUBE_JOINTS; ++j) {
        float half = 0.2f * sinf(0.3f * (float)(frame + j) + (float)instance);
        rotations[4 * j] = half;
        rotations[4 * j + 3] = sqrtf(1 - half * half);
    }
    jnTransform root = {.position = {(float)instance, 0.01f * (float)frame, 0}, .rotation = {0, 0, 0, 1}};
    jnTeleport teleport = (frame + instance) % 17 == 0 ? jn_teleportKeep : jn_teleportNone;
    float h = (frame + instance) % 11 == 0 ? 0 : 1.0f / 30;
    float* out = crowd->outputs + (size_t)instance * OUTPUT;
    jnCharacter_Step(crowd->characters[instance],
        &(jnCharacterInput){.h = h, .pose = {.rotations = rotations, .root = &root}, .teleport = teleport},
        &(jnCharacterOutput){
            .positions = out, .velocities = out + 3 * TUBE_VERTICES, .normals = out + 6 * TUBE_VERTICES});
}

static void* RunShare(void* user)
{
    const Share* share = user;
    for (int frame = 0; frame < FRAMES; ++frame) {
        for (int i = share->first; i < INSTANCES; i += THREADS) {
            StepInstance(share->crowd, i, frame);
        }
    }
    return NULL;
}

static Crowd MakeCrowd(const jnAsset* asset)
{
    Crowd crowd = {.asset = asset, .outputs = calloc(INSTANCES * OUTPUT, sizeof(float))};
    assert_non_null(crowd.outputs);
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    for (int i = 0; i < INSTANCES; ++i) {
        assert_int_equal(jnCreateCharacter(&def, &crowd.characters[i], NULL), jn_ok);
    }
    return crowd;
}

static void FreeCrowd(Crowd* crowd)
{
    for (int i = 0; i < INSTANCES; ++i) {
        jnDestroyCharacter(crowd->characters[i]);
    }
    free(crowd->outputs);
}

static void RunBoth(jnSkinning skinning)
{
    Tube* tube = MakeTube(skinning);
    Crowd alone = MakeCrowd(&tube->asset), together = MakeCrowd(&tube->asset);
    for (int i = INSTANCES - 1; i >= 0; --i) {
        for (int frame = 0; frame < FRAMES; ++frame) {
            StepInstance(&alone, i, frame);
        }
    }
    pthread_t threads[THREADS];
    Share shares[THREADS];
    for (int t = 0; t < THREADS; ++t) {
        shares[t] = (Share){&together, t};
        assert_int_equal(pthread_create(&threads[t], NULL, RunShare, &shares[t]), 0);
    }
    for (int t = 0; t < THREADS; ++t) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    }
    assert_memory_equal(alone.outputs, together.outputs, sizeof(float) * INSTANCES * OUTPUT);
    float moved = 0;
    for (int i = 0; i < OUTPUT; ++i) {
        assert_true(isfinite(together.outputs[i]));
        moved = fmaxf(moved, fabsf(together.outputs[i]));
    }
    assert_true(moved > 0.1f);
    FreeCrowd(&alone);
    FreeCrowd(&together);
}

static void TwoThreadsGiveTheBytesOfOne(void** state)
{
    (void)state;
    RunBoth(jn_skinLinear);
    RunBoth(jn_skinDual);
}

enum { MOST_WEIGHTS = 32 };

// Characters as morph weights, and the poses of a frame.
typedef struct Batch {
    jnCharacter* characters[INSTANCES];
    jnCharacterInput inputs[INSTANCES];
    jnCharacterOutput outputs[INSTANCES];
    float rotations[INSTANCES][4 * GOLDEN_JOINTS], weights[INSTANCES][MOST_WEIGHTS];
} Batch;

static void MakeBatch(Batch* b, const jnAsset* asset)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    memset(b, 0, sizeof(*b));
    def.weightsOnly = true;
    assert_true(asset->componentCount + asset->modeCount <= MOST_WEIGHTS);
    for (int i = 0; i < INSTANCES; ++i) {
        assert_int_equal(jnCreateCharacter(&def, &b->characters[i], NULL), jn_ok);
        b->outputs[i].weights = b->weights[i];
        b->inputs[i].pose.rotations = b->rotations[i];
    }
}

static void PoseBatch(Batch* b, const jnAsset* asset, int frame)
{
    float translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    for (int i = 0; i < INSTANCES; ++i) {
        jnAsset_SampleClip(asset, 0, frame / 30.0 + 0.3 * i, b->rotations[i], translations, scales);
        b->inputs[i].h = (frame + i) % 11 == 0 ? 0 : 1.0f / 30;
    }
}

// Threads take parts of a frame, split at another place each time.
typedef struct Part {
    Batch* batch;
    int first, count;
} Part;

static void* StepPart(void* user)
{
    const Part* part = user;
    Batch* b = part->batch;
    jnStepCharacters(b->characters + part->first, b->inputs + part->first, b->outputs + part->first, part->count);
    return NULL;
}

static void BatchesOnTwoThreadsGiveTheBytesOfOneByOne(void** state)
{
    (void)state;
    static Batch alone, together;
    size_t size;
    char *file = MakeGoldenAsset(golden_modes, 21, 8, &size), *bytes = aligned_alloc(64, (size + 63) / 64 * 64);
    jnAsset* asset;
    memcpy(bytes, file, size);
    free(file);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, NULL), jn_ok);
    MakeBatch(&alone, asset);
    MakeBatch(&together, asset);
    for (int frame = 0; frame < FRAMES; ++frame) {
        int middle = 1 + frame * 7 % (INSTANCES - 1);
        Part parts[2] = {{&together, 0, middle}, {&together, middle, INSTANCES - middle}};
        pthread_t threads[2];
        PoseBatch(&alone, asset, frame);
        PoseBatch(&together, asset, frame);
        for (int t = 0; t < 2; ++t) {
            assert_int_equal(pthread_create(&threads[t], NULL, StepPart, &parts[t]), 0);
        }
        for (int i = 0; i < INSTANCES; ++i) {
            jnCharacter_Step(alone.characters[i], &alone.inputs[i], &alone.outputs[i]);
        }
        for (int t = 0; t < 2; ++t) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        }
        assert_memory_equal(alone.weights, together.weights, sizeof(alone.weights));
    }
    assert_true(alone.weights[3][asset->componentCount] != 0.0f);
    for (int i = 0; i < INSTANCES; ++i) {
        jnDestroyCharacter(alone.characters[i]);
        jnDestroyCharacter(together.characters[i]);
    }
    jnDestroyAsset(asset);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TwoThreadsGiveTheBytesOfOne),
        cmocka_unit_test(BatchesOnTwoThreadsGiveTheBytesOfOneByOne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
