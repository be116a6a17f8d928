// jounce bench: speed, always beside a limit measured in the same run.
#include "bench.h"
#include "cli.h"

int jncBench(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bench [springs|character|modes|fit] [options]",
        .about = "Measures speed on this machine, each figure beside the limit it is compared with in the same run.\n"
                 "Times are the smallest of several rounds.\n",
        .example = "  jounce bench springs\n  jounce bench modes --asset hero/character.jounce\n",
    };
    enum { SPRINGS, CHARACTER, MODES, FIT };
    int what = SPRINGS;
    double seconds = 2.0;
    const char *keep = NULL, *asset = NULL;
    const jncOption options[] = {
        {.name = "WHAT",
            .kind = jnc_choice,
            .value = &what,
            .choices = "springs|character|modes|fit",
            .help = "what to measure (default springs)"},
        {.name = "--seconds",
            .kind = jnc_number,
            .value = &seconds,
            .argument = "S",
            .range = {0.01, 600},
            .help = "time for each race (default 2)"},
        {.name = "--asset",
            .kind = jnc_text,
            .value = &asset,
            .argument = "FILE",
            .help = "modes: a character file (the built-in figure)"},
        {.name = "--keep",
            .kind = jnc_text,
            .value = &keep,
            .argument = "DIR",
            .help = "fit: leave the arrays for bench/peers"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    switch (what) {
    case CHARACTER:
        return jnbBenchCharacter(seconds);
    case MODES:
        return jnbBenchModes(asset, seconds);
    case FIT:
        return jnbBenchFit(keep);
    default:
        return jnbBenchSprings(seconds);
    }
}
