// A picture of flesh in contact: the whole of it from the front and the side, and the deepest place close up, from
// outside and from within.
//
// What is inside other flesh cannot be seen from outside, so the last panel leaves out all faces that look at the
// camera but those with nodes inside. Close-ups are cut out of their surroundings, or a limb before them would hide
// them.
#include "draw/contact_picture.h"

#include "base/try.h"
#include "draw/picture.h"
#include "flesh/contact_internal.h"
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

enum { FRONT, SIDE, CLOSE, WITHIN, COLUMNS, MAX_ROWS = 8 };

// Degrees about Y that a panel's surface is turned by; the close-ups show it from its own half.
static const double turns[COLUMNS] = {0, -90, -40, -40};

// Metres from which red is as bright as it gets.
#define BRIGHT_DEPTH 0.03

// Half of what a close-up shows, of the largest side.
#define CLOSE_SHARE 0.1

/// The surface of one panel: moved and grown so that the one camera of the picture sees what the panel is to show.
typedef struct Panel {
    float *positions, *colors;
    int32_t* triangles;
    int triangleCount;
    double turn;
} Panel;

static void DestroyPanel(Panel* panel)
{
    free(panel->positions);
    free(panel->colors);
    free(panel->triangles);
}

static void ColorNode(double depth, float rgb[3])
{
    double bright = fmin(1, depth / BRIGHT_DEPTH);
    rgb[0] = depth > 0 ? (float)(0.4 + 0.55 * bright) : 0.55f;
    rgb[1] = depth > 0 ? (float)(0.3 * bright) : 0.42f;
    rgb[2] = depth > 0 ? 0.02f : 0.34f;
}

static void AddFace(const jnaContactFinder* f, const double* nodes, int kind, const double focus[3], int32_t face,
    const double toCamera[3], Panel* panel)
{
    const int32_t* c = f->shape->faces + 3 * (size_t)face;
    const double *a = nodes + 3 * (size_t)c[0], *b = nodes + 3 * (size_t)c[1], *d = nodes + 3 * (size_t)c[2];
    double area[3];
    jnaAreaVector(a, b, d, area);
    bool inside = f->depths[c[0]] > 0 || f->depths[c[1]] > 0 || f->depths[c[2]] > 0;
    bool facing = jnaDot(area, toCamera) >= 0;
    if ((kind >= CLOSE && jnaDistance(a, focus) > 1.2 * CLOSE_SHARE * f->shape->size) ||
        (kind == WITHIN && facing && !inside)) {
        return;
    }
    // What looks away is seen from its inside: turned over, so that it is lit.
    bool over = kind >= CLOSE && !facing;
    int32_t* out = panel->triangles + 3 * (size_t)panel->triangleCount++;
    out[0] = c[0];
    out[1] = c[over ? 2 : 1];
    out[2] = c[over ? 1 : 2];
}

static bool FillPanel(const jnaContactFinder* f, const double* nodes, int kind, const double focus[3], Panel* panel)
{
    const jnaContactShape* s = f->shape;
    size_t count = (size_t)s->volume->nodeCount;
    jnaArena arena = {0};
    panel->positions = jnaArena_Give(&arena, (int64_t)count, 3 * sizeof(float));
    panel->colors = jnaArena_Give(&arena, (int64_t)count, 3 * sizeof(float));
    panel->triangles = jnaArena_Give(&arena, s->faceCount, 3 * sizeof(int32_t));
    if (arena.failed) {
        return false;
    }
    const jnaBounds* box = &f->faceBounds[0];
    for (size_t n = 0; n < count; ++n) {
        ColorNode(f->depths[n], panel->colors + 3 * n);
        for (size_t i = 0; i < 3; ++i) {
            double center = kind >= CLOSE ? focus[i] : 0.5 * (box->low[i] + box->high[i]);
            double scale = kind >= CLOSE ? 1 / (2 * CLOSE_SHARE) : 1;
            panel->positions[3 * n + i] = (float)((nodes[3 * n + i] - center) * scale);
        }
    }
    panel->turn = kind >= CLOSE && focus[0] < 0.5 * (box->low[0] + box->high[0]) ? -turns[kind] : turns[kind];
    double angle = panel->turn / JNA_DEGREES, toCamera[3] = {-sin(angle), 0, cos(angle)};
    for (int32_t face = 0; face < s->faceCount; ++face) {
        AddFace(f, nodes, kind, focus, face, toCamera, panel);
    }
    return true;
}

// One row of the picture.
typedef struct Row {
    char text[JN_ERROR_LENGTH];
    Panel panels[COLUMNS];
} Row;

// The surface of each panel of a row; `focus` is where the first row is deepest.
static jnResult FillRow(jnaContactFinder* f, const double* nodes, bool first, double focus[3], const char* caption,
    Row* row, jnError* error)
{
    jnaPenetration p;
    JN_PASS(jnaContactFinder_Measure(f, nodes, &p, error));
    jnaBoxTree_Fit(&f->shape->faceTree, nodes, f->faceBounds);
    int32_t deepest = f->shape->nodes[0];
    for (int n = 0; first && n < f->shape->nodeCount; ++n) {
        deepest = f->depths[f->shape->nodes[n]] > f->depths[deepest] ? f->shape->nodes[n] : deepest;
    }
    for (int i = 0; first && i < 3; ++i) {
        focus[i] = nodes[3 * (size_t)deepest + (size_t)i];
    }
    snprintf(row->text, sizeof(row->text), "%s: %d nodes inside, depth %.1f mm, volume %.2f cm3", caption, p.nodeCount,
        1e3 * p.depth, 1e6 * p.volume);
    for (int kind = 0; kind < COLUMNS; ++kind) {
        if (!FillPanel(f, nodes, kind, focus, &row->panels[kind])) {
            return jnFail(error, jn_outOfMemory, "out of memory for a picture of %d faces", f->shape->faceCount);
        }
    }
    return jn_ok;
}

static jnResult Draw(const jnaContactShape* s, int count, const Row* rows, const char* path, jnError* error)
{
    jnaPictureMesh meshes[COLUMNS * MAX_ROWS] = {0};
    for (int k = 0; k < COLUMNS * count; ++k) {
        const Panel* panel = &rows[k / COLUMNS].panels[k % COLUMNS];
        meshes[k] = (jnaPictureMesh){.positions = panel->positions,
            .vertexCount = s->volume->nodeCount,
            .triangles = panel->triangles,
            .triangleCount = panel->triangleCount,
            .colors = panel->colors,
            .turn = (float)panel->turn,
            .panel = k};
    }
    jnaPictureDef def = jnaDefaultPictureDef();
    def.columns = COLUMNS;
    def.rows = count;
    def.panelWidth = def.panelHeight = 480;
    def.ground = false;
    def.camera = (jnaCamera){.height = (float)(1.1 * s->size), .pitch = 10};
    jnaPicture picture;
    jnResult result = jn_ok;
    JN_TRY(jnaDrawPicture(&def, meshes, COLUMNS * count, &picture, error));
    for (int row = 0; row < count; ++row) {
        double bottom = (double)picture.height * (row + 1) / count - 10;
        const jnaTextStyle style = {18, jna_textLeft, 0x202020};
        JN_TRY(jnaPicture_Text(&picture, 10, bottom, &style, rows[row].text, error));
    }
    JN_TRY(jnaPicture_Write(&picture, path, error));
done:
    jnaDestroyPicture(&picture);
    return result;
}

jnResult jnaPictureContact(jnaContactFinder* finder, int count, const double* const* nodes, const char* const* captions,
    const char* path, jnError* error)
{
    if (count < 1 || count > MAX_ROWS) {
        return jnFail(error, jn_badArgument, "a picture of contact has 1 to %d rows, not %d", MAX_ROWS, count);
    }
    Row rows[MAX_ROWS] = {0};
    double focus[3];
    jnResult result = jn_ok;
    for (int row = 0; row < count; ++row) {
        const char* caption = captions != NULL ? captions[row] : "flesh";
        JN_TRY(FillRow(finder, nodes[row], row == 0, focus, caption, &rows[row], error));
    }
    JN_TRY(Draw(finder->shape, count, rows, path, error));
done:
    for (int k = 0; k < COLUMNS * count; ++k) {
        DestroyPanel(&rows[k / COLUMNS].panels[k % COLUMNS]);
    }
    return result;
}
