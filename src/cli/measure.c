// See measure.h. Times are the smallest seen: noise of a shared machine only ever adds.
#include "measure.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static int CompareTimes(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void jnbRace(jnbContender* contenders, int count, double seconds)
{
    for (int warm = 0; warm < 3; ++warm) {
        for (int i = 0; i < count; ++i) {
            contenders[i].run(contenders[i].user);
        }
    }
    double end = jnaWallClock() + seconds;
    int rounds = 0;
    while (rounds < JNB_MAX_ROUNDS && (rounds < 10 || jnaWallClock() < end)) {
        for (int i = 0; i < count; ++i) {
            // Twice in a row: the second run finds its own data in the caches, as it would alone.
            contenders[i].run(contenders[i].user);
            double start = jnaWallClock();
            contenders[i].run(contenders[i].user);
            contenders[i].times[rounds] = jnaWallClock() - start;
        }
        rounds++;
    }
    for (int i = 0; i < count; ++i) {
        qsort(contenders[i].times, (size_t)rounds, sizeof(double), CompareTimes);
        contenders[i].min = contenders[i].times[0];
        contenders[i].median = contenders[i].times[rounds / 2];
    }
}

void jnbRunCopy(void* user)
{
    jnbCopy* copy = user;
    memcpy(copy->to, copy->from, copy->bytes / 2);
    __asm__ volatile("" : : "r"(copy->to) : "memory"); // the copy is not to be optimised away
}
