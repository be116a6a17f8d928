// jounce bench: speed, always beside a limit measured in the same run.
#include "bench.h"
#include "cli.h"

int jncBench(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bench [springs|character] [--seconds S]",
        .about = "Measures speed on this machine, each figure beside the limit it is compared with in the "
                 "same run.\n"
                 "Times are the smallest of many rounds that take all contenders in turn.\n",
        .example = "  jounce bench springs\n",
    };
    int what = 0;
    double seconds = 2.0;
    const jncOption options[] = {
        {.name = "WHAT",
            .kind = jnc_choice,
            .value = &what,
            .choices = "springs|character",
            .help = "what to measure (default springs)"},
        {.name = "--seconds",
            .kind = jnc_number,
            .value = &seconds,
            .argument = "S",
            .help = "time for each race (default 2)"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    return what == 0 ? jnbBenchSprings(seconds) : jnbBenchCharacter(seconds);
}
