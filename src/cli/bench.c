// jounce bench: speed, beside the limits that it is compared with.
#include "bench.h"
#include "cli.h"

int jncBench(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bench [WHAT] [options]",
        .about = "Measures speed on this machine, each figure beside the limit it is compared with in the same run.\n"
                 "Times are the smallest of several rounds.\n",
        .example = "  jounce bench springs\n  jounce bench volume --from body.glb\n  jounce bench network --poses 500\n",
    };
    enum { SPRINGS, CHARACTER, FIT, VOLUME, CONTACT, NETWORK };
    int what = SPRINGS;
    double seconds = 2.0;
    const char *keep = NULL, *from = NULL;
    long poses = 2000;
    const jncOption options[] = {
        {.name = "WHAT",
            .kind = jnc_choice,
            .value = &what,
            .choices = "springs|character|fit|volume|contact|network",
            .help = "what to measure (default springs)"},
        {.name = "--seconds",
            .kind = jnc_number,
            .value = &seconds,
            .argument = "S",
            .range = {0.1, 60.0},
            .help = "springs, character, network: time for each figure (default 2)"},
        {.name = "--poses",
            .kind = jnc_integer,
            .value = &poses,
            .argument = "N",
            .help = "network: the most it learns from, 0 for none (default 2000)"},
        {.name = "--keep",
            .kind = jnc_text,
            .value = &keep,
            .argument = "DIR",
            .help = "fit, network: leave the arrays for bench/peers; contact: pictures of the poses"},
        {.name = "--from",
            .kind = jnc_text,
            .value = &from,
            .argument = "FILE",
            .help = "volume: a character besides the built-in figure; contact: instead of it"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (poses < 0 || poses > 20000 || (poses > 0 && poses < 160)) {
        return jncMisuse("--poses: %ld is neither 0 nor between 160 and 20000", poses);
    }
    switch (what) {
    case NETWORK:
        return jnbBenchNetwork(seconds, (int)poses, keep);
    case CONTACT:
        return jnbBenchContact(from, keep, seconds);
    case VOLUME:
        return jnbBenchVolume(from);
    case FIT:
        return jnbBenchFit(keep);
    case CHARACTER:
        return jnbBenchCharacter(seconds);
    default:
        return jnbBenchSprings(seconds);
    }
}
