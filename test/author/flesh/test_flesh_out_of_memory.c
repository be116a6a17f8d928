// Every allocation of ours in making and moving flesh fails once: the call ends in a result that says so, nothing
// crashes, nothing leaks into the next round. Left out under the sanitizers, which own malloc themselves.
#include "helpers/fleshes.h"

#include <errno.h>

#ifdef JN_SANITIZED

static void NothingToDo(void** state)
{
    (void)state;
    print_message("skipped: the sanitizer owns malloc\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(NothingToDo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
extern char __executable_start, etext; // the linker's

// Allocations left until the one that fails; negative: none fails.
static long countdown = -1;

// caller: who asks; only those of our own code count.
static bool Fails(const void* caller)
{
    const char* at = caller;
    if (countdown < 0 || at < &__executable_start || at >= &etext) {
        return false;
    }
    if (countdown-- == 0) {
        errno = ENOMEM;
        return true;
    }
    return false;
}

void* malloc(size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

static TestVolume test;
static jnaClip clip;
static double* moving;

// A flesh, its solver, a pose by Newton's method and a frame of motion.
static jnResult MakeAndMove(jnError* error)
{
    jnaFlesh* flesh = NULL;
    jnaFleshSolver* solver = NULL;
    jnaFleshReport report;
    jnaFleshDef def = PlainDef(&test);
    def.newton = true;
    def.substeps = 1;
    jnResult result = jnaCreateFlesh(&def, &flesh, error);
    if (result == jn_ok) {
        result = jnaCreateFleshSolver(flesh, &solver, error);
    }
    if (result == jn_ok) {
        result = jnaFleshSolver_Start(solver, &clip, 0, moving, &report, error);
    }
    if (result == jn_ok) {
        result = jnaFleshSolver_Advance(solver, &clip, 0, moving, &report, error);
    }
    jnaDestroyFleshSolver(solver);
    jnaDestroyFlesh(flesh);
    return result;
}

static void MakingAndMovingFleshSurvivesEveryFailure(void** state)
{
    (void)state;
    int failures = 0;
    for (long k = 0;; ++k) {
        jnError error = {0};
        assert_true(k < 20000);
        countdown = k;
        jnResult result = MakeAndMove(&error);
        bool met = countdown < 0;
        countdown = -1;
        if (!met) {
            assert_int_equal(result, jn_ok);
            break;
        }
        if (result != jn_ok) { // where Newton's direction finds no memory, another is taken
            assert_int_equal(result, jn_outOfMemory);
            assert_non_null(strstr(error.message, "out of memory"));
            failures++;
        }
    }
    print_message("%d failures met\n", failures);
    assert_true(failures >= 40);
}

int main(void)
{
    static const double size[3] = {1, 0.5, 0.5};
    test = MakeBlock(4, 2, 2, size, 0, 2);
    FillInside(&test, (jnaMaterial){.young = 1e4, .poisson = 0.4, .density = 1000}, HoldLeftFace);
    clip = RestClip(&test.character, 1, 30);
    TurnJoint(&clip, 0, 1, 0.5, AXIS_X);
    moving = calloc((size_t)test.volume.nodeCount * 15, sizeof(double)); // five arrays of a state
    const struct CMUnitTest tests[] = {cmocka_unit_test(MakingAndMovingFleshSurvivesEveryFailure)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(moving);
    jnaDestroyClip(&clip);
    DestroyTestVolume(&test);
    return failed;
}

#endif
