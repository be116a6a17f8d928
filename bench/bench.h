// One function per benchmark. Each prints its table and returns an exit code.
#pragma once

/// `seconds` is about how long a race may take.
int jnbBenchSprings(double seconds);
int jnbBenchCharacter(double seconds);

/// `poses`: the most that learning is measured with; 0: not at all. `keep`: as below.
int jnbBenchNetwork(double seconds, int poses, const char* keep);

/// `keep`: a folder that the motion and the losses are left in for a peer; NULL for none.
int jnbBenchFit(const char* keep);

/// Products a second, multiplied and added, that one core manages at most.
double jnbPeakProductsBaseline(void);
double jnbPeakProductsAvx2(void);
double jnbPeakProductsAvx512(void);
