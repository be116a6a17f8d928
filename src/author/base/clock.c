// The one clock; see clock.h.
#include "base/clock.h"

#include <time.h>

double jnaWallClock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
