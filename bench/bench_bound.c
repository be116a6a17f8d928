// The bound of the surface, tried: random states of a character, every triangle looked at.
//
// A state is a few steps of random length through random poses, with random blows to the flesh, from nearly rest to
// far beyond what any motion does. The displaced surface before skinning is compared with the rest: principal stretches of
// every triangle of at least SMALLEST_AREA.
#define JN_WANTS_CHARACTER
#include "bench.h"

#include "asset/asset_writer.h"
#include "base/random.h"
#include "modes/modes.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3, THREAD_SEED = 1000 };
#define SMALLEST_AREA 1e-9
#define FIRST_BAD_LOW 0.5
#define FIRST_BAD_HIGH 1.8

typedef struct Surface {
    const jnAsset* asset;
    float* deltas;     // [columns][vertices][3]
    float (*axes)[3][3]; // [triangles]
    float (*inverse)[3];
    int32_t (*corners)[3];
    int triangleCount, columns;
} Surface;

typedef struct Found {
    double least, most;
    long beyond, states;
    int worst; // triangle of the least
} Found;

static double Uniform(uint64_t* state, double low, double high)
{
    return low + (high - low) * (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

static bool MakeSurface(const jnAsset* a, Surface* s)
{
    size_t vertices = (size_t)a->vertexCount, triangles = (size_t)a->triangleCount;
    *s = (Surface){.asset = a, .columns = a->componentCount + a->modeCount};
    s->deltas = calloc((size_t)s->columns * vertices + 1, 3 * sizeof(float));
    s->axes = calloc(triangles + 1, sizeof(*s->axes));
    s->inverse = calloc(triangles + 1, sizeof(*s->inverse));
    s->corners = calloc(triangles + 1, sizeof(*s->corners));
    float* rest = calloc(vertices + 1, 3 * sizeof(float));
    if (s->deltas == NULL || s->axes == NULL || s->inverse == NULL || s->corners == NULL || rest == NULL) {
        free(rest);
        return false;
    }
    for (int k = 0; k < s->columns; ++k) {
        jnAsset_MorphDeltas(a, k, true, s->deltas + 3 * (size_t)k * vertices);
    }
    for (size_t v = 0; v < vertices; ++v) {
        for (size_t i = 0; i < 3; ++i) {
            rest[3 * v + i] = a->rest[4 * v + i];
        }
    }
    jnaCharacter c = {.positions = rest};
    for (size_t t = 0; t < triangles; ++t) {
        int n = s->triangleCount;
        for (size_t i = 0; i < 3; ++i) {
            s->corners[n][i] = a->weld[a->triangles[3 * t + i]];
        }
        bool good = jnaElement_Frame(&c, s->corners[n], s->axes[n], s->inverse[n]);
        double area = good ? 0.5 / fabs((double)(s->inverse[n][0] * s->inverse[n][2])) : 0;
        s->triangleCount += area > SMALLEST_AREA;
    }
    free(rest);
    return true;
}

static void LookAt(const Surface* s, const float* weights, float* u, Found* found)
{
    size_t numbers = 3 * (size_t)s->asset->vertexCount;
    memset(u, 0, numbers * sizeof(float));
    for (int k = 0; k < s->columns; ++k) {
        const float* delta = s->deltas + (size_t)k * numbers;
        for (size_t i = 0; weights[k] != 0.0f && i < numbers; ++i) {
            u[i] += weights[k] * delta[i];
        }
    }
    for (int t = 0; t < s->triangleCount; ++t) {
        const int32_t* corners = s->corners[t];
        float edges[2][3], rows[6];
        for (size_t i = 0; i < 3; ++i) {
            edges[0][i] = u[3 * (size_t)corners[1] + i] - u[3 * (size_t)corners[0] + i];
            edges[1][i] = u[3 * (size_t)corners[2] + i] - u[3 * (size_t)corners[0] + i];
        }
        jnaElement_Rows((const float(*)[3])s->axes[t], s->inverse[t], edges[0], edges[1], rows);
        rows[0] += 1.0f;
        rows[3] += 1.0f;
        float x = rows[0] * rows[0] + rows[2] * rows[2] + rows[4] * rows[4];
        float y = rows[1] * rows[1] + rows[3] * rows[3] + rows[5] * rows[5];
        float z = rows[0] * rows[1] + rows[2] * rows[3] + rows[4] * rows[5];
        float mean = 0.5f * (x + y), away = sqrtf(0.25f * (x - y) * (x - y) + z * z);
        double least = sqrt(fmax((double)(mean - away), 0)), most = sqrt((double)(mean + away));
        found->worst = least < found->least ? t : found->worst;
        found->least = fmin(found->least, least);
        found->most = fmax(found->most, most);
        found->beyond += least < FIRST_BAD_LOW || !(most <= FIRST_BAD_HIGH);
    }
    found->states++;
}

static void TryState(const Surface* s, jnCharacter* c, uint64_t* random, float* rotations, float* u, Found* found)
{
    const jnAsset* a = s->asset;
    float weights[JN_MAX_COLUMNS] = {0};
    double wild = pow(10, Uniform(random, -2, 0)), force = pow(10, Uniform(random, -1, 2));
    for (int step = 0; step < STEPS; ++step) {
        for (int j = 0; j < 4 * a->jointCount; ++j) {
            double rest = (double)a->joints[j / 4].rotation[j % 4];
            rotations[j] = (float)(rest + wild * Uniform(random, -1, 1));
        }
        for (int j = 0; j < a->jointCount; ++j) {
            float length = 0;
            for (int i = 0; i < 4; ++i) {
                length += rotations[4 * j + i] * rotations[4 * j + i];
            }
            for (int i = 0; i < 4; ++i) {
                rotations[4 * j + i] /= sqrtf(length);
            }
        }
        float blow[3];
        for (int i = 0; i < 3; ++i) {
            blow[i] = (float)(force * Uniform(random, -1, 1));
        }
        jnCharacter_AddImpulse(c, (int)(Uniform(random, 0, 1) * a->vertexCount) % a->vertexCount, blow);
        jnCharacter_Step(c,
            &(jnCharacterInput){.h = (float)Uniform(random, 0.001, 0.05), .pose = {.rotations = rotations}},
            &(jnCharacterOutput){.weights = weights});
    }
    LookAt(s, weights, u, found);
}

static Found TryAll(const Surface* s, long states)
{
    Found all = {.least = 1, .most = 1};
#pragma omp parallel
    {
        Found own = {.least = 1, .most = 1};
        jnCharacterDef def = jnDefaultCharacterDef(s->asset);
        jnCharacter* c = NULL;
        float* u = malloc(3 * (size_t)s->asset->vertexCount * sizeof(float));
        float* rotations = malloc(4 * (size_t)s->asset->jointCount * sizeof(float));
        bool ready = u != NULL && rotations != NULL && jnCreateCharacter(&def, &c, NULL) == jn_ok;
#pragma omp for schedule(static)
        for (long i = 0; i < states; ++i) {
            uint64_t random = (uint64_t)i + THREAD_SEED;
            if (ready) {
                TryState(s, c, &random, rotations, u, &own);
            }
        }
#pragma omp critical
        {
            all.worst = own.least < all.least ? own.worst : all.worst;
            all.least = fmin(all.least, own.least);
            all.most = fmax(all.most, own.most);
            all.beyond += own.beyond;
            all.states += own.states;
        }
        jnDestroyCharacter(c);
        free(u);
        free(rotations);
    }
    return all;
}

int jnbBenchBound(const char* path, long states)
{
    jnaAssetFile file;
    jnError error = {0};
    Surface s;
    if (jnaOpenAsset(path, &file, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    bool made = MakeSurface(file.asset, &s);
    Found found = {.least = 1};
    if (made) {
        found = TryAll(&s, states);
        printf("%s: %ld random states, %d triangles: principal stretches %.3f to %.3f, %ld of them beyond %.1f to %.1f\n",
            path, found.states, s.triangleCount, found.least, found.most, found.beyond, FIRST_BAD_LOW, FIRST_BAD_HIGH);
    }
    if (made && found.least < 1) {
        const float *at = file.asset->rest + 4 * (size_t)s.corners[found.worst][0], *inverse = s.inverse[found.worst];
        printf("the smallest at (%.3f, %.3f, %.3f), a triangle of %.2f mm2\n", (double)at[0], (double)at[1],
            (double)at[2], 0.5e6 / (double)(inverse[0] * inverse[2]));
    }
    free(s.deltas);
    free(s.axes);
    free(s.inverse);
    free(s.corners);
    jnaCloseAsset(&file);
    return made ? 0 : 1;
}
