// Every allocation of ours in training, judging, keeping and encoding a network fails once: the call ends in a result
// that says so, nothing crashes, nothing leaks into the next round. Those inside oneDNN are left alone.
#include "helpers/failing_memory.h"
#include "helpers/network_scene.h"
#include "helpers/support.h"
#include "learn/network.h"
#include "workspace/network_store.h"

#include <omp.h>
#include <unistd.h>

static jnbShapes shapes;
static jnNetworkKind kind;
static char folder[300];

static jnResult MakePairs(jnError* error)
{
    jnaPairs pairs;
    int added = 0;
    const jnaPair one = {.rotations = shapes.rotations, .positions = shapes.positions};
    jnResult result = jnaCreateCharacterPairs(&shapes.character, jn_skinLinear, 1, &pairs, error);
    if (result != jn_ok) {
        return result;
    }
    float* surface = __libc_malloc(3 * (size_t)pairs.vertexCount * sizeof(float));
    result = jnaPairs_Add(&pairs, 1, &one, error);
    result = result == jn_ok ? jnaPairs_Surface(&pairs, 0, pairs.displacements, surface, error) : result;
    result = result == jn_ok ? jnaPairs_Mirror(&pairs, &shapes.character, NULL, &added, error) : result;
    jnaDestroyPairs(&pairs);
    free(surface);
    return result;
}

// From pairs to the bytes of the asset, and through the files of a workspace.
static jnResult TrainAndKeep(jnError* error)
{
    jnaTrainDef def = jnaDefaultTrainDef(kind);
    jnaNetwork network = {0}, back = {0};
    jnaNetworkReport report;
    void* bytes = NULL;
    size_t size;
    def.epochs = 1;
    def.mapSize = 64;
    def.hidden = 2;
    def.shared = 2;
    def.components = 5;
    def.threads = 1;
    jnResult result = jnaTrainNetwork(&shapes.character, &shapes.pairs, &def, &network, NULL, error);
    result = result == jn_ok ? jnaEvaluateNetwork(&network, &shapes.pairs, NULL, &report, error) : result;
    result = result == jn_ok ? jnaEncodeNetwork(&network, NULL, &bytes, &size, error) : result;
    result = result == jn_ok ? jnaSaveNetwork(folder, &network, error) : result;
    result = result == jn_ok ? jnaSaveNetworkErrors(folder, &report, error) : result;
    result = result == jn_ok ? jnaLoadNetwork(folder, &back, error) : result;
    assert_true(result == jn_ok || back.parameters == NULL);
    free(bytes);
    jnaDestroyNetwork(&network);
    jnaDestroyNetwork(&back);
    return result;
}

static void PairsSurviveEveryFailure(void** state)
{
    (void)state;
    FailEach(MakePairs, 20);
}

static void APcaSurvivesEveryFailure(void** state)
{
    (void)state;
    kind = jn_networkPca;
    FailEach(TrainAndKeep, 40);
}

static void ACnnSurvivesEveryFailure(void** state)
{
    (void)state;
    kind = jn_networkCnn;
    FailEach(TrainAndKeep, 40);
}

static int SetUp(void** state)
{
    (void)state;
    onlyOurs = true;
    omp_set_num_threads(1); // the threads of OpenMP allocate when they like
    snprintf(folder, sizeof(folder), "%s/train-memory-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(folder) != NULL && jnbCreateUvTube(7, 6, 3, &shapes.character, NULL) == jn_ok &&
                   jnbFillShapes(&shapes, 12, 4, 7, NULL) == jn_ok
               ? 0
               : -1;
}

static int TearDown(void** state)
{
    (void)state;
    char line[400];
    jnbDestroyShapes(&shapes);
    snprintf(line, sizeof(line), "rm -r '%s'", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PairsSurviveEveryFailure),
        cmocka_unit_test(APcaSurvivesEveryFailure),
        cmocka_unit_test(ACnnSurvivesEveryFailure),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
