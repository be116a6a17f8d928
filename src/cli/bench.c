// jounce bench: speed, always beside a limit measured in the same run.
#include "bench.h"
#include "cli.h"

int jncBench(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bench [springs|character|fit|contact] [options]",
        .about = "Measures speed on this machine, each figure beside the limit it is compared with in the same run.\n"
                 "Times are the smallest of several rounds.\n",
        .example = "  jounce bench springs\n  jounce bench character\n  jounce bench fit\n  jounce bench contact\n",
    };
    enum { SPRINGS, CHARACTER, FIT, CONTACT };
    int what = SPRINGS;
    double seconds = 2.0;
    const char *keep = NULL, *file = NULL;
    const jncOption options[] = {
        {.name = "WHAT",
            .kind = jnc_choice,
            .value = &what,
            .choices = "springs|character|fit|contact",
            .help = "what to measure (default springs)"},
        {.name = "--seconds",
            .kind = jnc_number,
            .value = &seconds,
            .argument = "S",
            .range = {0.01, 600},
            .help = "time for each race (default 2)"},
        {.name = "--keep",
            .kind = jnc_text,
            .value = &keep,
            .argument = "DIR",
            .help = "fit: leave the arrays for bench/peers; contact: pictures of the poses"},
        {.name = "--file",
            .kind = jnc_text,
            .value = &file,
            .argument = "FILE",
            .help = "contact: a character instead of the figure"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (what == CONTACT) {
        return jnbBenchContact(file, keep, seconds);
    }
    return what == FIT ? jnbBenchFit(keep) : what == CHARACTER ? jnbBenchCharacter(seconds) : jnbBenchSprings(seconds);
}
