// jounce VERB ...: finds the verb and hands over.
#include "cli.h"

#include <string.h>

static const jncVerb verbs[] = {
    {"new", "make a workspace from a rigged character and its clips", jncNew},
    {"tetrahedralize", "fill a character with the tetrahedra of its flesh", jncTetrahedralize},
    {"springs run", "move springs along targets given as arrays", jncSpringsRun},
    {"springs fit", "learn stiffness and damping from targets and motion", jncSpringsFit},
    {"picture", "draw the built-in figure, still or in motion", jncPicture},
    {"demo", "draw springs in the three damping regimes", jncDemo},
    {"bench", "measure speed against the limits of this machine", jncBench},
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void PrintOverview(FILE* stream)
{
    fprintf(
        stream, "jounce %s: flesh that moves on animated characters\n\nusage: jounce VERB [options]\n\n", jnVersion());
    for (int i = 0; i < VERB_COUNT; ++i) {
        fprintf(stream, "  %-14s %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(stream, "\njounce VERB --help explains a verb.\n");
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

int main(int argc, char** argv)
{
    argc--;
    argv++;
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
            return verbs[i].run(argc - words, argv + words);
        }
    }
    return jncMisuse("there is no verb '%s'; jounce --help lists them", argv[0]);
}
