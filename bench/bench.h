// One function per benchmark; `seconds` is about how long a race may take. Each prints its table and returns
// an exit code.
#pragma once

int jnbBenchSprings(double seconds);
int jnbBenchCharacter(double seconds);
