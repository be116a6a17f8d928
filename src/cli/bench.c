// jounce bench: speed, always beside a limit measured in the same run.
#include "bench.h"
#include "cli.h"

int jncBench(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bench [springs|character|fit|network] [options]",
        .about = "Measures speed on this machine, each figure beside the limit it is compared with in the same run.\n"
                 "Times are the smallest of several rounds.\n",
        .example = "  jounce bench springs\n  jounce bench character\n  jounce bench fit\n  jounce bench network "
                   "--poses 500\n",
    };
    enum { SPRINGS, CHARACTER, FIT, NETWORK };
    int what = SPRINGS;
    double seconds = 2.0;
    const char* keep = NULL;
    long poses = 2000;
    const jncOption options[] = {
        {.name = "WHAT",
            .kind = jnc_choice,
            .value = &what,
            .choices = "springs|character|fit|network",
            .help = "what to measure (default springs)"},
        {.name = "--seconds",
            .kind = jnc_number,
            .value = &seconds,
            .argument = "S",
            .range = {0.01, 600},
            .help = "time for each race (default 2)"},
        {.name = "--poses",
            .kind = jnc_integer,
            .value = &poses,
            .argument = "N",
            .help = "network: the most it learns from, 0 for none (default 2000)"},
        {.name = "--keep",
            .kind = jnc_text,
            .value = &keep,
            .argument = "DIR",
            .help = "fit, network: leave the arrays for bench/peers"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (poses < 0 || poses > 20000 || (poses > 0 && poses < 160)) {
        return jncMisuse("--poses: %ld is neither 0 nor between 160 and 20000", poses);
    }
    if (what == NETWORK) {
        return jnbBenchNetwork(seconds, (int)poses, keep);
    }
    return what == FIT ? jnbBenchFit(keep) : what == CHARACTER ? jnbBenchCharacter(seconds) : jnbBenchSprings(seconds);
}
