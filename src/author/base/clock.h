// The one clock.
#pragma once

/// Seconds of a clock that only goes forward.
double jnaWallClock(void);
