// jounce VERB ...: finds the verb and hands over.
#include "cli.h"

#include "workspace/manifest.h"

#include <signal.h>
#include <string.h>

static const jncVerb verbs[] = {
    {"demo", "run the whole pipeline on the built-in figure", jncDemo},
    {"new", "create a workspace from a rigged character and its clips", jncNew},
    {"build", "bring a workspace up to date", jncBuild},
    {"tetrahedralize", "fill the character with tetrahedra", jncTetrahedralize},
    {"tune", "set how soft the regions of the body are, and how far they may move", jncTune},
    {"anatomy", "measure how soft the flesh is and compare it with people", jncAnatomy},
    {"modes", "compute the vibration modes of the flesh", jncModes},
    {"simulate", "simulate the flesh in poses and clips", jncSimulate},
    {"audit", "check that simulated poses are reproducible", jncAudit},
    {"train", "train the network that corrects the skinned surface", jncTrain},
    {"fit", "fit the springs to simulated or imported motion", jncFit},
    {"evaluate", "measure the error against the simulated motion", jncEvaluate},
    {"report", "write the results of a workspace as one HTML page", jncReport},
    {"springs run", "simulate springs on targets given as arrays", jncSpringsRun},
    {"springs fit", "fit stiffness and damping to arrays of targets and motion", jncSpringsFit},
    {"check", "check a workspace or a file for damage", jncCheck},
    {"export", "write the character file that the runtime plays", jncExport},
    {"info", "print the contents and cost of a character file", jncInfo},
    {"bake", "write a clip as a vertex cache for other programs", jncBake},
    {"view", "show a character in motion in a browser", jncView},
    {"studio", "change a character's motion by hand, in a browser", jncStudioVerb},
    {"picture", "draw a character, still or in motion", jncPicture},
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

int main(int argc, char** argv)
{
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
        if (JNC_MISSING_PARTS[0] != '\0') {
            printf("without %s\n", JNC_MISSING_PARTS);
        }
        return JNC_DONE;
    }
    for (int i = 0; i < VERB_COUNT; ++i) {
        int words = MatchVerb(&verbs[i], argc, argv);
        if (words > 0) {
            return Finish(verbs[i].run(argc - words, argv + words));
        }
    }
    if (strcmp(argv[0], "springs") == 0) {
        return jncMisuse("springs needs one of run and fit");
    }
    return jncMisuse("there is no verb '%s'; jounce --help lists them", argv[0]);
}
