// Independent chains of multiply and add on full vectors: the arithmetic peak of one core with doubles.
#include "bench.h"

#include "base/clock.h"
#include "measure.h"
#include "runtime/lanes.h"

double JNB_PEAK(void)
{
    enum { CHAINS = 12, ROUNDS = 20000 };
    double best = 1e9;
    for (int attempt = 0; attempt < 20; ++attempt) {
        jnDoubles sums[CHAINS];
        memset(sums, 0, sizeof(sums));
        double factor = 1.0 - 1e-9 * attempt;
        double start = jnaWallClock();
        for (int i = 0; i < ROUNDS; ++i) {
#pragma GCC unroll 12
            for (int k = 0; k < CHAINS; ++k) {
                sums[k] = sums[k] * factor + 1.0;
            }
        }
        double time = jnaWallClock() - start;
        best = time < best ? time : best;
        volatile double keep = 0;
        for (int k = 0; k < CHAINS; ++k) {
            double lanes[JN_DOUBLE_WIDTH];
            memcpy(lanes, &sums[k], sizeof(lanes));
            keep = keep + lanes[0];
        }
    }
    return (double)ROUNDS * CHAINS * JN_DOUBLE_WIDTH / best;
}
