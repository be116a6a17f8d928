// jounce-bench touch: presses of the flesh.
#include "base/npy.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "touch_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static jnResult Keep(
    const char* folder, const char* name, size_t rows, size_t columns, const float* data, jnError* error)
{
    char path[1024];
    size_t shape[2] = {rows, columns};
    snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
    return jnaWriteArray(path, jna_float32, 2, shape, data, error);
}

int jnbBenchTouch(const char* file, const char* keep, int presses)
{
    jnbTouchScene s;
    jnError error = {0};
    jnResult result = jnbCreateTouchScene(file, &s, &error);
    uint64_t state = 1;
    size_t vertices = (size_t)s.character.vertexCount;
    float* all = malloc((size_t)presses * 3 * vertices * sizeof(float));
    float* list = malloc((size_t)presses * 24 * sizeof(float));
    for (int i = 0; result == jn_ok && i < presses; ++i) {
        jnbPress p;
        jnbMakePress(&s, &state, &p);
        result = jnbSolvePress(&s, &p, all + (size_t)i * 3 * vertices, &error);
        const jnaCollider* c = &p.collider;
        float row[24] = {(float)p.vertex, (float)c->shape, (float)c->position[0], (float)c->position[1],
            (float)c->position[2], (float)c->rotation[0], (float)c->rotation[1], (float)c->rotation[2],
            (float)c->rotation[3], (float)c->radius, (float)c->half[0], (float)c->half[1], (float)c->half[2],
            (float)p.asked, (float)p.touch.force[0], (float)p.touch.force[1], (float)p.touch.force[2],
            (float)p.touch.depth, (float)p.touch.count, (float)p.converged, (float)s.sag.regions[p.vertex]};
        memcpy(list + 24 * (size_t)i, row, sizeof(row));
        printf("%3d %-10s shape %d asked %4.1f mm, flesh %4.1f mm: force %6.1f N left %5.2f mm, %3d vertices, %s %.2f "
               "s %s\n",
            i, jnaRegionNames[s.sag.regions[p.vertex]], (int)c->shape, 1e3 * p.asked,
            1e3 * (double)s.sag.depths[p.vertex],
            sqrt(p.touch.force[0] * p.touch.force[0] + p.touch.force[1] * p.touch.force[1] +
                 p.touch.force[2] * p.touch.force[2]),
            1e3 * p.touch.depth, p.touch.count, p.converged ? "" : "not converged", p.seconds, "");
        fflush(stdout);
    }
    if (result == jn_ok && keep != NULL) {
        result = Keep(keep, "dents", (size_t)presses, 3 * vertices, all, &error);
        result = result == jn_ok ? Keep(keep, "presses", (size_t)presses, 24, list, &error) : result;
        result = result == jn_ok ? Keep(keep, "rest", vertices, 3, s.still, &error) : result;
        result = result == jn_ok ? Keep(keep, "normals", vertices, 3, s.normals, &error) : result;
        result = result == jn_ok ? Keep(keep, "areas", vertices, 1, s.areas, &error) : result;
        result = result == jn_ok ? Keep(keep, "depths", vertices, 1, s.sag.depths, &error) : result;
    }
    free(all);
    free(list);
    jnbDestroyTouchScene(&s);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
