// jounce VERB ...: finds the verb and hands over.
#include "cli.h"

#include "base/blas.h"
#include "workspace/manifest.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const jncVerb verbs[] = {
    {"demo", "run the whole pipeline on the built-in figure", jncDemo, true},
    {"new", "create a workspace from a rigged character and its clips", jncNew, false},
    {"build", "bring a workspace up to date", jncBuild, true},
    {"tetrahedralize", "fill the character with tetrahedra", jncTetrahedralize, true},
    {"tune", "set how soft the regions of the body are, and how far they may move", jncTune, false},
    {"anatomy", "measure how soft the flesh is and compare it with people", jncAnatomy, true},
    {"modes", "compute the vibration modes of the flesh", jncModes, true},
    {"simulate", "simulate the flesh in poses and clips", jncSimulate, true},
    {"audit", "check that simulated poses are reproducible", jncAudit, true},
    {"train", "train the network that corrects the skinned surface", jncTrain, true},
    {"fit", "fit the springs to simulated or imported motion", jncFit, true},
    {"evaluate", "measure the error against the simulated motion", jncEvaluate, true},
    {"report", "write the results of a workspace as one HTML page", jncReport, true},
    {"springs run", "simulate springs on targets given as arrays", jncSpringsRun, false},
    {"springs fit", "fit stiffness and damping to arrays of targets and motion", jncSpringsFit, true},
    {"check", "check a workspace or a file for damage", jncCheck, false},
    {"export", "write the character file that the runtime plays", jncExport, false},
    {"info", "print the contents and cost of a character file", jncInfo, false},
    {"bake", "write a clip as a vertex cache for other programs", jncBake, false},
    {"view", "show a character in motion in a browser", jncView, true},
    {"studio", "change a character's motion by hand, in a browser", jncStudioVerb, true},
    {"picture", "draw a character, still or in motion", jncPicture, true},
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void PrintOverview(FILE* stream)
{
    fprintf(stream,
        "jounce %s: soft-tissue dynamics for animated characters, in real time\n\nusage: jounce VERB [options]\n\n",
        jnVersion());
    for (int i = 0; i < VERB_COUNT; ++i) {
        fprintf(stream, "  %-14s %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(stream,
        "\n`jounce VERB --help` explains a verb. A value follows its option after a space or an equals sign: "
        "--rate 24, --rate=24.\n");
}

// docs/reference/command-line.md, from the verbs and their tables of options.
static int PrintReference(void)
{
    printf("# Command line\n\n"
           "`jounce VERB [options]` is the whole command. This page lists every verb and every option; the guides show "
           "how to use\n"
           "them. `jounce VERB --help` prints the same text.\n\n"
           "A value follows its option after a space or an equals sign: `--rate 24`, `--rate=24`. Exit codes: 0 "
           "success, 1 failure\n"
           "with one line on stderr, 2 wrong usage. Arrays are NumPy files; lengths are metres, times are seconds.\n\n"
           "This page is generated: `make reference`.\n\n| verb | purpose |\n| --- | --- |\n");
    for (int i = 0; i < VERB_COUNT; ++i) {
        printf("| [`%s`](#jounce-", verbs[i].name);
        for (const char* at = verbs[i].name; *at != '\0'; ++at) {
            putchar(*at == ' ' ? '-' : *at);
        }
        printf(") | %s |\n", verbs[i].summary);
    }
    for (int i = 0; i < VERB_COUNT; ++i) {
        char word[] = JNC_MARKDOWN_HELP;
        char* words[] = {word, NULL};
        printf("\n## jounce %s\n\n", verbs[i].name);
        verbs[i].run(1, words);
    }
    return JNC_DONE;
}

// How many words of the line a verb's name takes up; 0 if it is another verb.
static int MatchVerb(const jncVerb* verb, int argc, char** argv)
{
    const char* at = verb->name;
    for (int words = 0;; ++words) {
        size_t length = strcspn(at, " ");
        if (words == argc || strlen(argv[words]) != length || memcmp(argv[words], at, length) != 0) {
            return 0;
        }
        if (at[length] == '\0') {
            return words + 1;
        }
        at += length + 1;
    }
}

// jounce help VERB; --markdown and --manifest print the pages of docs/reference.
static int Help(int argc, char** argv)
{
    if (argc == 1 && strcmp(argv[0], "--markdown") == 0) {
        return PrintReference();
    }
    if (argc == 1 && strcmp(argv[0], "--manifest") == 0) {
        jnaDescribeManifest(stdout);
        return JNC_DONE;
    }
    char word[] = "--help";
    char* words[] = {word, NULL};
    for (int i = 0; i < VERB_COUNT; ++i) {
        if (MatchVerb(&verbs[i], argc, argv) == argc) {
            return verbs[i].run(1, words);
        }
    }
    return jncMisuse("there is no verb '%s'; jounce --help lists them", argv[0]);
}

// What was printed must have arrived: a full disk behind a redirection is a failure too.
static int Finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "jounce: cannot write to standard output\n");
        return code == JNC_DONE ? JNC_FAILED : code;
    }
    return code;
}

// Threads that the rest of a limited address space has buffers for, half of it kept for the work. OpenBLAS reads such
// settings while it is loaded.
static void LimitThreads(const struct rlimit* limit)
{
    char count[24];
    unsigned long mapped = 0;
    FILE* status = fopen("/proc/self/statm", "r");
    if (status != NULL) {
        if (fscanf(status, "%lu", &mapped) != 1) {
            mapped = 0;
        }
        fclose(status);
    }
    rlim_t taken = (rlim_t)mapped * (rlim_t)sysconf(_SC_PAGESIZE);
    rlim_t room = limit->rlim_cur > taken ? (limit->rlim_cur - taken) / 2 : 0;
    snprintf(count, sizeof(count), "%d", (int)fmin(fmax((double)(room / JNA_BLAS_BUFFER), 1), 1024));
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1); // its own threads are never used
    (void)setenv("OMP_THREAD_LIMIT", count, 0);
}

// Whether address space is limited: `ulimit -v`, and clusters that count it.
static bool IsLimited(struct rlimit* limit)
{
    return getrlimit(RLIMIT_AS, limit) == 0 && limit->rlim_cur != RLIM_INFINITY;
}

// OpenBLAS chooses its kernels while it is loaded: for a better choice the command begins again.
static void ChooseBlas(char** argv)
{
    char path[PATH_MAX];
    struct rlimit limit;
    const char* better = getenv("OPENBLAS_CORETYPE") == NULL ? jnaBetterBlas() : NULL;
    bool limited = IsLimited(&limit) && getenv("OPENBLAS_NUM_THREADS") == NULL;
    ssize_t length = better != NULL || limited ? readlink("/proc/self/exe", path, sizeof(path) - 1) : -1;
    if (length > 0) {
        if (better != NULL) {
            (void)setenv("OPENBLAS_CORETYPE", better, 1);
        }
        if (limited) {
            LimitThreads(&limit);
        }
        path[length] = '\0'; // by its name, which other programs list
        execv(path, argv);   // where it fails all goes on as it is, only slower
    }
}

// A verb that goes through OpenBLAS has its buffers or does not begin.
static int RunVerb(const jncVerb* verb, int argc, char** argv)
{
    struct rlimit limit;
    bool help = argc > 0 && strcmp(argv[0], "--help") == 0;
    if (verb->algebra && !help && IsLimited(&limit)) {
        int threads = omp_get_max_threads(), made = jnaReserveBlas(threads);
        if (made == 0) {
            return jncFail(&(jnError){jn_outOfMemory, "out of memory: linear algebra takes 144 MiB of address space "
                                                      "for a thread; raise its limit (ulimit -v)"});
        }
        omp_set_num_threads(made);
    }
    return verb->run(argc, argv);
}

int main(int argc, char** argv)
{
    ChooseBlas(argv);
    argc--;
    argv++;
    (void)setvbuf(stdout, NULL, _IOLBF, 0); // line by line into a pipe or a file, too: a long build is watched there
    signal(SIGXFSZ, SIG_IGN);               // a limit on the size of files is then told like a full disk
    if (argc >= 2 && strcmp(argv[0], "help") == 0) {
        return Finish(Help(argc - 1, argv + 1));
    }
    if (argc == 0 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "help") == 0) {
        PrintOverview(argc == 0 ? stderr : stdout);
        return argc == 0 ? JNC_USAGE : JNC_DONE;
    }
    if (strcmp(argv[0], "--version") == 0) {
        printf("jounce %s\n", jnVersion());
        return JNC_DONE;
    }
    for (int i = 0; i < VERB_COUNT; ++i) {
        int words = MatchVerb(&verbs[i], argc, argv);
        if (words > 0) {
            return Finish(RunVerb(&verbs[i], argc - words, argv + words));
        }
    }
    if (strcmp(argv[0], "springs") == 0) {
        return jncMisuse("springs needs one of run and fit");
    }
    return jncMisuse("there is no verb '%s'; jounce --help lists them", argv[0]);
}
