// One function per benchmark. Each prints its table and returns an exit code.
#pragma once

/// `seconds` is about how long a race may take.
int jnbBenchSprings(double seconds);
int jnbBenchCharacter(double seconds);
/// `asset`: a .jounce file without springs of single vertices; NULL: made-up bodies of 31 and 163 joints.
int jnbBenchCrowd(const char* asset, double seconds);
int jnbBenchBound(const char* asset, long states);
/// The same motion at many frame rates. `asset`: a .jounce file with modes.
int jnbBenchRates(const char* asset);
/// What each part of the modes is worth on a workspace's simulated motion. Takes minutes.
int jnbBenchAblation(const char* workspace);

/// What each part of a character as morph weights is worth, as it ships.
int jnbBenchForm(const char* workspace);
/// Springs of single vertices at their best, with and without a gain, on the data of the modes. Takes a minute.
int jnbBenchBaselines(const char* workspace);
/// What fits of the modes on every pair of its clips do to the others. Takes minutes.
int jnbBenchSplits(const char* workspace);

/// The lowest frequencies of the flesh on meshes of several sizes. `file`: a character; NULL for the figure. Takes
/// minutes.
int jnbBenchMeshes(const char* file);

/// The whole stage for the built-in figure and, where it is not NULL, a character from a file.
int jnbBenchVolume(const char* file);

/// `poses`: the most that learning is measured with; 0: not at all. `keep`: as below.
int jnbBenchNetwork(double seconds, int poses, const char* keep);

/// `keep`: a folder that the motion and the losses are left in for a peer; NULL for none.
int jnbBenchFit(const char* keep);

/// `file`: a character; NULL for the figure. `keep`: a folder for pictures of the poses; NULL for none.
int jnbBenchContact(const char* file, const char* keep, double seconds);

/// `poses`: how many random ones are solved. The others as above.
int jnbBenchFlesh(const char* file, const char* keep, int poses, double seconds);

/// Colliders at run time: what they cost, and random presses against the simulation. `file`: a character; NULL for the
/// figure. Takes a minute and a second a press.
int jnbBenchTouch(const char* file, int presses, double seconds);

/// The integrators of the flesh beside many small steps, on the figure. Takes minutes.
int jnbBenchSteps(void);

/// Products a second, multiplied and added, that one core manages at most.
double jnbPeakProductsBaseline(void);
double jnbPeakProductsAvx2(void);
double jnbPeakProductsAvx512(void);
