// Skinned beside played: see preview_picture.h.
//
// Two pictures, since all panels of one share a camera: the whole character, and a part of it around the vertex. Both
// are turned so that the vertex's normal, seen from above, points a little beside the camera.
#include "draw/preview_picture.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 2, HEIGHT = 560 };

// Degrees that the vertex is turned away from the camera: relief shows in light from the side.
#define ASIDE 25.0f
// What the near panels show, of the height of the character.
#define NEAR_PART 0.32f

static const float broken[3] = {0.75f, 0.02f, 0.02f};

// Direction of the compared surface at a vertex, degrees about Y from the front.
static float FacingOf(const jnaPreview* p)
{
    double sum[3] = {0};
    const jnaCharacter* c = p->character;
    for (int t = 0; t < c->triangleCount; ++t) {
        int32_t v[3];
        bool has = false;
        for (int k = 0; k < 3; ++k) {
            v[k] = c->weld[c->triangles[3 * t + k]];
            has = has || v[k] == p->vertex;
        }
        const float *a = p->compared + 3 * (size_t)v[0], *b = p->compared + 3 * (size_t)v[1],
                    *d = p->compared + 3 * (size_t)v[2];
        for (int i = 0; has && i < 3; ++i) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            sum[i] += (double)((b[j] - a[j]) * (d[k] - a[k]) - (b[k] - a[k]) * (d[j] - a[j]));
        }
    }
    return (float)(atan2(sum[0], sum[2]) * 180 / 3.14159265358979);
}

// Both surfaces, standing where the compared one does: what differs is what moved.
static void FillMeshes(const jnaPreview* p, float* colors, jnaPictureMesh meshes[PANELS])
{
    const float* surfaces[PANELS] = {p->compared, p->shown};
    size_t triangles = (size_t)p->character->triangleCount;
    float turn = -FacingOf(p) - ASIDE;
    for (int i = 0; i < PANELS; ++i) {
        meshes[i] = jnaPictureCharacter(p->character, surfaces[i], colors + 3 * triangles * (size_t)i);
        meshes[i].turn = turn;
        meshes[i].panel = i;
        jnaPictureMesh_Center(&meshes[i]);
        memcpy(meshes[i].offset, meshes[0].offset, sizeof(meshes[i].offset));
    }
    for (size_t t = 0; p->marks != NULL && t < triangles; ++t) {
        if (p->marks[t]) {
            memcpy(colors + 3 * (triangles + t), broken, sizeof(broken));
        }
    }
}

// Where a mesh puts a vertex.
static void PlaceOf(const jnaPictureMesh* mesh, int vertex, float place[3])
{
    const float* p = mesh->positions + 3 * (size_t)vertex;
    float angle = mesh->turn * 3.14159265f / 180, s = sinf(angle), c = cosf(angle);
    place[0] = c * p[0] + s * p[2] + mesh->offset[0];
    place[1] = p[1] + mesh->offset[1];
    place[2] = c * p[2] - s * p[0] + mesh->offset[2];
}

// Two pictures of one height side by side.
static jnResult Join(const jnaPicture* a, const jnaPicture* b, jnaPicture* both, jnError* error)
{
    size_t left = 4 * (size_t)a->width, right = 4 * (size_t)b->width;
    *both = (jnaPicture){.width = a->width + b->width, .height = a->height < b->height ? a->height : b->height};
    both->pixels = malloc((left + right) * (size_t)both->height);
    if (both->pixels == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a picture");
    }
    for (size_t y = 0; y < (size_t)both->height; ++y) {
        memcpy(both->pixels + (left + right) * y, a->pixels + left * y, left);
        memcpy(both->pixels + (left + right) * y + left, b->pixels + right * y, right);
    }
    return jn_ok;
}

static float LowestOf(const jnaPreview* p)
{
    float low = HUGE_VALF;
    for (int v = 0; v < p->character->vertexCount; ++v) {
        low = fminf(low, p->compared[3 * (size_t)v + 1]);
    }
    return low;
}

jnResult jnaDrawPreview(const jnaPreview* p, jnaPicture* picture, jnError* error)
{
    const char* names[PANELS] = {p->comparedName, "played"};
    jnaPictureMesh meshes[PANELS];
    jnaPicture whole = {0}, near = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    *picture = (jnaPicture){0};
    float* colors = jnaArena_Take(&arena, 2 * (int64_t)p->character->triangleCount, 3 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "a preview", error));
    FillMeshes(p, colors, meshes);
    jnaPictureDef def = jnaDefaultPictureDef();
    def.columns = PANELS;
    def.panelHeight = p->panelHeight > 0 ? p->panelHeight : HEIGHT;
    def.samples = 2;
    def.directions = 32;
    def.captions = names;
    def.groundHeight = LowestOf(p);
    jnaPictureDef_Frame(&def, meshes, PANELS);
    JN_TRY(jnaDrawPicture(&def, meshes, PANELS, &whole, error));
    PlaceOf(&meshes[0], p->vertex, def.camera.target);
    def.camera.height *= NEAR_PART;
    JN_TRY(jnaDrawPicture(&def, meshes, PANELS, &near, error));
    JN_TRY(Join(&whole, &near, picture, error));
    double size = 0.032 * def.panelHeight;
    const jnaTextStyle style = {size, jna_textLeft, 0x303030};
    JN_TRY(jnaPicture_Text(picture, 0.6 * size, 1.3 * size, &style, p->caption, error));
done:
    if (result != jn_ok) {
        jnaDestroyPicture(picture);
    }
    jnaDestroyPicture(&whole);
    jnaDestroyPicture(&near);
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaPreview_Stack(const jnaPicture* preview, jnaPicture* tile, jnError* error)
{
    int panel = preview->width / (2 * PANELS) / 2, height = preview->height / 2; // of the tile: every second pixel
    *tile = (jnaPicture){.width = 2 * panel, .height = 2 * height};
    tile->pixels = malloc(4 * (size_t)tile->width * (size_t)tile->height);
    if (tile->pixels == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a picture");
    }
    for (int y = 0; y < tile->height; ++y) {
        for (int x = 0; x < tile->width; ++x) {
            // Panels of the preview: whole and near, each skinned and played.
            int from = (x / panel) * PANELS + y / height;
            size_t column = 2 * (size_t)panel * (size_t)from + 2 * (size_t)(x % panel), row = 2 * (size_t)(y % height);
            memcpy(tile->pixels + 4 * ((size_t)y * (size_t)tile->width + (size_t)x),
                preview->pixels + 4 * (row * (size_t)preview->width + column), 4);
        }
    }
    return jn_ok;
}
