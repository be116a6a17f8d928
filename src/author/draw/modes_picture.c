// Pictures of modes, for reports: one panel a mode.
#include "draw/modes_picture.h"

#include "base/affine.h"
#include "base/try.h"

#include "draw/picture.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 32, COLUMNS = 8 };

static void Bend(const jnaModes* m, const jnaCharacter* c, int mode, double amplitude, float* positions, float* heat)
{
    const float* shape = m->shapes + 3 * (size_t)mode * (size_t)m->vertexCount;
    for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
        for (size_t a = 0; a < 3; ++a) {
            positions[3 * v + a] = c->positions[3 * v + a] + (float)amplitude * shape[3 * v + a];
        }
        const float* u = shape + 3 * v;
        heat[v] = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
}

// The camera sees the whole surface.
static jnaCamera Frame(const jnaCharacter* c)
{
    float low[3], high[3];
    memcpy(low, c->positions, sizeof(low));
    memcpy(high, c->positions, sizeof(high));
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        low[i % 3] = fminf(low[i % 3], c->positions[i]);
        high[i % 3] = fmaxf(high[i % 3], c->positions[i]);
    }
    jnaCamera camera = {.yaw = 25, .pitch = 5, .fieldOfView = 20};
    for (int i = 0; i < 3; ++i) {
        camera.target[i] = 0.5f * (low[i] + high[i]);
    }
    camera.height = 1.15f * fmaxf(high[1] - low[1], 1.3f * fmaxf(high[0] - low[0], high[2] - low[2]));
    return camera;
}

jnResult jnaDrawModes(const jnaModes* m, const jnaCharacter* c, int count, double amplitude,
    const jnaPictureDef* settings, jnaPicture* picture, jnError* error)
{
    *picture = (jnaPicture){0};
    if (count < 1 || count > MOST_PANELS || count > m->modeCount) {
        return jnFail(error, jn_badArgument, "%d modes cannot be drawn: there are %d, and a picture takes %d", count,
            m->modeCount, MOST_PANELS);
    }
    size_t n = (size_t)m->vertexCount;
    float* numbers = malloc((size_t)count * n * 4 * sizeof(float));
    if (numbers == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to draw %d modes", count);
    }
    jnaPictureMesh meshes[MOST_PANELS];
    char captions[MOST_PANELS][96];
    const char* lines[MOST_PANELS + COLUMNS] = {0};
    for (int i = 0; i < count; ++i) {
        float *positions = numbers + (size_t)i * n * 4, *heat = positions + 3 * n;
        Bend(m, c, i, amplitude, positions, heat);
        meshes[i] = (jnaPictureMesh){.positions = positions,
            .vertexCount = m->vertexCount,
            .triangles = c->triangles,
            .triangleCount = c->triangleCount,
            .weld = c->weld,
            .heat = heat,
            .heatHigh = 1,
            .panel = i};
        snprintf(captions[i], sizeof(captions[i]), "%d: %.2f Hz, %s", i, sqrt(m->stiffness[i]) / JNA_TURN,
            c->joints[m->joints[i]].name);
        lines[i] = captions[i];
    }
    jnaPictureDef def = settings != NULL ? *settings : jnaDefaultPictureDef();
    if (settings == NULL) {
        def.panelWidth = 240;
        def.panelHeight = 360;
        def.columns = count < COLUMNS ? count : COLUMNS;
        def.rows = (count + COLUMNS - 1) / COLUMNS;
        def.samples = 2;
        def.captions = lines;
    }
    def.camera = Frame(c);
    def.ground = false;
    jnResult result = jnaDrawPicture(&def, meshes, count, picture, error);
    free(numbers);
    return result;
}

jnResult jnaPictureModes(
    const jnaModes* m, const jnaCharacter* c, int count, double amplitude, const char* path, jnError* error)
{
    jnaPicture picture;
    jnResult result = jn_ok;
    JN_TRY(jnaDrawModes(m, c, count, amplitude, NULL, &picture, error));
    JN_TRY(jnaPicture_Write(&picture, path, error));
done:
    jnaDestroyPicture(&picture);
    return result;
}
