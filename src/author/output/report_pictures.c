// The pictures of a report: stills of the clips, and the springs on the body.
#include "report_internal.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STILL_PANELS = 5, STRIP_PANELS = 6, MAP_PANELS = 2, MOST_STRIPS = 2 };
#define DEGREES 57.29577951308232

static jnResult OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory for a report");
}

jnaPictureDef jnaReport_PictureDef(const Report* r, int panelHeight)
{
    jnaPictureDef def = jnaDefaultPictureDef();
    def.panelHeight = r->def->quick ? panelHeight / 2 : panelHeight;
    def.samples = r->def->quick ? 1 : 2;
    def.directions = r->def->quick ? 16 : 64;
    def.threads = r->def->threads;
    def.groundHeight = jnaReport_Ground(r);
    return def;
}

float jnaReport_Ground(const Report* r)
{
    float low = 0;
    for (int v = 0; v < r->character.vertexCount; ++v) {
        float y = r->character.positions[3 * (size_t)v + 1];
        low = v == 0 || y < low ? y : low;
    }
    return low;
}

void jnaReport_Center(jnaPictureMesh* mesh)
{
    float low[2] = {1e30f, 1e30f}, high[2] = {-1e30f, -1e30f};
    float c = cosf(mesh->turn * 0.01745329f), s = sinf(mesh->turn * 0.01745329f);
    for (int v = 0; v < mesh->vertexCount; ++v) {
        const float* p = mesh->positions + 3 * (size_t)v;
        float seen[2] = {c * p[0] + s * p[2], -s * p[0] + c * p[2]};
        for (int k = 0; k < 2; ++k) {
            low[k] = seen[k] < low[k] ? seen[k] : low[k];
            high[k] = seen[k] > high[k] ? seen[k] : high[k];
        }
    }
    mesh->offset[0] = -0.5f * (low[0] + high[0]);
    mesh->offset[2] = -0.5f * (low[1] + high[1]);
}

// Where the pelvis faces in a frame, against the rest pose, degrees about Y. matrices: [jointCount][12], written.
static float Facing(const Report* r, const jnaClip* clip, int frame, float* matrices)
{
    const float* m = matrices + 12 * (size_t)r->pelvis;
    jnaPoseMatrices(&r->character, NULL, 0, matrices);
    // The joint's own axis that points along +Z at rest, carried along.
    const float axis[3] = {m[8], m[9], m[10]};
    jnaPoseMatrices(&r->character, clip, frame, matrices);
    float x = m[0] * axis[0] + m[1] * axis[1] + m[2] * axis[2];
    float z = m[8] * axis[0] + m[9] * axis[1] + m[10] * axis[2];
    return (float)(DEGREES * atan2((double)x, (double)z));
}

static float Distances(const float* a, const float* b, int vertexCount, float* out)
{
    float most = 0;
    for (int v = 0; v < vertexCount; ++v) {
        const float *p = a + 3 * (size_t)v, *q = b + 3 * (size_t)v;
        float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
        out[v] = sqrtf(x * x + y * y + z * z);
        most = fmaxf(most, out[v]);
    }
    return most;
}

static double Rms(const float* values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += (double)values[i] * (double)values[i];
    }
    return sqrt(sum / (count > 0 ? count : 1));
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

// The value that a share of the others is below.
static float Percentile(const float* values, int count, double share, float* scratch)
{
    memcpy(scratch, values, (size_t)count * sizeof(float));
    qsort(scratch, (size_t)count, sizeof(float), CompareFloats);
    return scratch[(size_t)(share * (count - 1))];
}

void jnaReport_HeatBar(FILE* out, int count, const double* shares, const char (*labels)[16], const char* unit)
{
    fputs("<div class=\"scale\"><i style=\"background:linear-gradient(90deg", out);
    for (int i = 0; i <= 8; ++i) {
        float rgb[3];
        int bytes[3];
        jnaHeatColor((float)i / 8, rgb);
        for (int k = 0; k < 3; ++k) {
            double s = rgb[k] <= 0.0031308f ? 12.92 * (double)rgb[k] : 1.055 * pow((double)rgb[k], 1 / 2.4) - 0.055;
            bytes[k] = (int)(255 * fmin(fmax(s, 0), 1) + 0.5);
        }
        fprintf(out, ",#%02x%02x%02x", (unsigned)bytes[0], (unsigned)bytes[1], (unsigned)bytes[2]);
    }
    fputs(")\"></i><div>", out);
    for (int i = 0; i < count; ++i) {
        bool atEnd = shares[i] > 0.9, atStart = shares[i] < 0.1; // there the text stays inside
        fprintf(out, "<span%s style=\"left:%.1f%%\">%s%s</span>",
            atEnd     ? " class=\"e\""
            : atStart ? " class=\"b\""
                      : "",
            100 * shares[i], labels[i], i == count - 1 ? unit : "");
    }
    fputs("</div></div>\n", out);
}

static jnResult WritePanels(Report* r, const jnaPicture* picture, int count, const char (*labels)[96], jnError* error)
{
    jnResult result = jn_ok;
    for (int i = 0; i < count && result == jn_ok; ++i) {
        fputs("<div>", r->out);
        result = jnaReport_Image(r, picture, count, 1, i, labels[i], error);
        fputs("<small>", r->out);
        jnaReport_Text(r->out, labels[i]);
        fputs("</small></div>\n", r->out);
    }
    return result;
}

// ---- Stills ----

typedef struct Still {
    jnaPictureMesh meshes[STILL_PANELS];
    float* heat[2]; // [vertexCount], distance of skinning and of ours from the simulation
    float high;     // metres, the end of the colour map
    char labels[STILL_PANELS][96];
} Still;

static void FillStill(const Report* r, const ReportClip* clip, float turn, Still* still)
{
    static const char* const names[3] = {"skinned", "ours", "simulated"};
    for (int i = 0; i < STILL_PANELS; ++i) {
        const float* positions = clip->stills[i < 3 ? i : i - 3];
        jnaPictureMesh* mesh = &still->meshes[i];
        *mesh = jnaPictureCharacter(&r->character, positions, r->triangleColors);
        mesh->turn = turn;
        mesh->panel = i;
        if (i >= 3) {
            mesh->heat = still->heat[i - 3];
            mesh->heatHigh = still->high;
            snprintf(still->labels[i], sizeof(still->labels[i]), "%s, %.1f mm rms off", names[i - 3],
                1e3 * Rms(mesh->heat, mesh->vertexCount));
        } else {
            snprintf(still->labels[i], sizeof(still->labels[i]), "%s", names[i]);
        }
    }
    // All stand where the simulated one does: what differs is what moved.
    jnaReport_Center(&still->meshes[2]);
    for (int i = 0; i < STILL_PANELS; ++i) {
        memcpy(still->meshes[i].offset, still->meshes[2].offset, sizeof(still->meshes[i].offset));
    }
}

static jnResult DrawStill(Report* r, const ReportClip* clip, float turn, Still* still, int number, jnError* error)
{
    FillStill(r, clip, turn, still);
    jnaPictureDef def = jnaReport_PictureDef(r, 400);
    def.columns = STILL_PANELS;
    jnaPictureDef_Frame(&def, still->meshes, STILL_PANELS);
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, still->meshes, STILL_PANELS, &picture, error);
    if (result != jn_ok) {
        return result;
    }
    fprintf(r->out, "<figure id=\"still-%d\"><h3>", number);
    jnaReport_Text(r->out, clip->name);
    fprintf(r->out, ", %s, %.2f s</h3>\n<div class=\"row\" style=\"--least:%dpx\">\n",
        clip->trained ? "seen" : "unseen", (clip->first + clip->strongest) / clip->clip.rate,
        def.panelWidth > def.panelHeight ? 200 : 140);
    result = WritePanels(r, &picture, STILL_PANELS, still->labels, error);
    jnaDestroyPicture(&picture);
    fputs("</div>\n", r->out);
    const double shares[2] = {0, 1};
    char ends[2][16] = {"0"};
    snprintf(ends[1], sizeof(ends[1]), "%.0f", 1e3 * (double)still->high);
    jnaReport_HeatBar(r->out, 2, shares, ends, " mm");
    fputs("</figure>\n", r->out);
    return result;
}

static jnResult MakeStill(Report* r, const ReportClip* clip, int number, jnError* error)
{
    int count = r->character.vertexCount;
    float* numbers = malloc(((size_t)count * 3 + 12 * (size_t)r->character.jointCount) * sizeof(float));
    if (numbers == NULL) {
        return OutOfMemory(error);
    }
    Still still = {.heat = {numbers, numbers + count}};
    for (int i = 0; i < 2; ++i) {
        Distances(clip->stills[i], clip->stills[2], count, still.heat[i]);
    }
    still.high = fmaxf(Percentile(still.heat[0], count, 0.99, numbers + 2 * (size_t)count), 1e-3f);
    float facing = Facing(r, &clip->clip, clip->first + clip->strongest, numbers + 3 * (size_t)count);
    jnResult result = DrawStill(r, clip, -facing - 30, &still, number, error);
    free(numbers);
    return result;
}

// The simulated motion of a clip in a few frames.
static jnResult MakeStrip(Report* r, const ReportClip* clip, int number, jnError* error)
{
    size_t row = 3 * (size_t)r->character.vertexCount;
    float* numbers = malloc((STRIP_PANELS * row + 12 * (size_t)r->character.jointCount) * sizeof(float));
    if (numbers == NULL) {
        return OutOfMemory(error);
    }
    jnaPictureMesh meshes[STRIP_PANELS];
    char labels[STRIP_PANELS][96];
    float facing = Facing(r, &clip->clip, clip->first, numbers + STRIP_PANELS * row);
    for (int i = 0; i < STRIP_PANELS; ++i) {
        int frame = (int)((long)(clip->frameCount - 1) * i / (STRIP_PANELS - 1));
        float* positions = numbers + row * (size_t)i;
        const float* source = jnaReport_Row(&clip->simulated, frame, positions);
        if (source != positions) {
            memcpy(positions, source, row * sizeof(float));
        }
        for (size_t k = 0; k < row; ++k) { // a frame that failed may hold anything
            positions[k] = isfinite(positions[k]) ? positions[k] : 0.0f;
        }
        meshes[i] = jnaPictureCharacter(&r->character, positions, r->triangleColors);
        meshes[i].turn = -facing - 30;
        meshes[i].panel = i;
        jnaReport_Center(&meshes[i]);
        snprintf(labels[i], sizeof(labels[i]), "%.2f s", (clip->first + frame) / clip->clip.rate);
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 280);
    def.columns = STRIP_PANELS;
    jnaPictureDef_Frame(&def, meshes, STRIP_PANELS);
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, meshes, STRIP_PANELS, &picture, error);
    if (result == jn_ok) {
        fprintf(r->out, "<figure id=\"sequence-%d\"><h3>", number);
        jnaReport_Text(r->out, clip->name);
        fputs(", simulated: learned from</h3>\n<div class=\"row\" style=\"--least:110px\">\n", r->out);
        result = WritePanels(r, &picture, STRIP_PANELS, labels, error);
        fputs("</div></figure>\n", r->out);
        jnaDestroyPicture(&picture);
    }
    free(numbers);
    return result;
}

jnResult jnaReport_Stills(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    int stills = 0, strips = 0;
    jnaReport_BeginSection(r, "stills", "Side by side");
    if (!r->played) {
        jnaReport_Missing(r,
            "no stills: they need simulated motion and the file that plays, jounce simulate %s --clips "
            "--dynamic && jounce build %s",
            r->workspace, r->workspace);
    } else {
        fputs("<p>For each clip the frame in which the flesh is farthest from what the pose explains. <i>Ours</i> is "
              "what the "
              "runtime plays; colours tell how far the surface is from the simulated one.</p>\n",
            r->out);
    }
    for (int seen = 1; seen >= 0; --seen) {
        for (int i = 0; i < r->clipCount && result == jn_ok; ++i) {
            const ReportClip* clip = &r->clips[i];
            if (clip->trained == (seen == 1) && clip->stills[2] != NULL) {
                result = MakeStill(r, clip, stills++, error);
            }
        }
    }
    for (int i = 0; i < r->clipCount && result == jn_ok && strips < MOST_STRIPS; ++i) {
        if (r->clips[i].trained && r->clips[i].frameCount >= STRIP_PANELS) {
            result = MakeStrip(r, &r->clips[i], strips++, error);
        }
    }
    jnaReport_EndSection(r);
    return result;
}

// ---- Springs on the body ----

// One quantity on the body: values as they are coloured, and the two ends.
typedef struct Map {
    const char *id, *title, *unit;
    float* values; // [vertexCount], logarithms; with a sign where it diverges
    float* colors; // [vertexCount][3], where it diverges; else NULL
    float low, high;
} Map;

// From blue over nearly white to red, linear RGB; t from -1 to 1.
static void DivergingColor(float t, float rgb[3])
{
    static const float ends[2][3] = {{0.03f, 0.13f, 0.52f}, {0.58f, 0.05f, 0.03f}};
    const float* end = ends[t > 0];
    float share = fminf(fabsf(t), 1);
    for (int k = 0; k < 3; ++k) {
        rgb[k] = (1 - share) * 0.80f + share * end[k];
    }
}

static void WriteDivergingBar(FILE* out, float most)
{
    static const char* const stops[5] = {"#3665c0", "#a5b2dc", "#e7e7e7", "#dfa89c", "#c8402f"};
    fputs("<div class=\"scale\"><i style=\"background:linear-gradient(90deg", out);
    for (int i = 0; i < 5; ++i) {
        fprintf(out, ",%s", stops[i]);
    }
    fputs(")\"></i><div>", out);
    int decade = (int)floorf(most);
    for (int sign = -1; sign <= 1; ++sign) {
        double share = 0.5 + 0.5 * sign * decade / fmax((double)most, 1e-6);
        if (sign == 0) {
            fputs("<span style=\"left:50%\">0</span>", out);
        } else {
            fprintf(out, "<span class=\"%s\" style=\"left:%.1f%%\">%s10<sup>%d</sup>%s</span>", sign > 0 ? "e" : "b",
                100 * share, sign < 0 ? "−" : "", decade, sign > 0 ? " 1/s²" : "");
        }
    }
    fputs("</div></div>\n", out);
}

// Powers of ten along a logarithmic bar.
static void WriteLogBar(FILE* out, const Map* map)
{
    double shares[8];
    char labels[8][16];
    int count = 0;
    double range = (double)map->high - (double)map->low;
    for (int decade = (int)ceil((double)map->low); decade <= (int)floor((double)map->high) && count < 8; ++decade) {
        shares[count] = (decade - (double)map->low) / range;
        snprintf(labels[count++], sizeof(labels[0]), decade >= 0 && decade < 5 ? "%.0f" : "%.0e", pow(10, decade));
    }
    if (count < 2) { // not even two powers: the ends instead
        shares[0] = 0;
        shares[1] = 1;
        snprintf(labels[0], sizeof(labels[0]), "%.3g", pow(10, (double)map->low));
        snprintf(labels[1], sizeof(labels[1]), "%.3g", pow(10, (double)map->high));
        count = 2;
    }
    jnaReport_HeatBar(out, count, shares, labels, map->unit);
}

static jnResult DrawMap(Report* r, const Map* map, jnError* error)
{
    static const char labels[MAP_PANELS][96] = {"front", "back"};
    jnaPictureMesh meshes[MAP_PANELS];
    for (int i = 0; i < MAP_PANELS; ++i) {
        meshes[i] = jnaPictureCharacter(&r->character, NULL, r->triangleColors);
        meshes[i].turn = i == 0 ? 0 : 180;
        meshes[i].panel = i;
        if (map->colors != NULL) {
            meshes[i].triangleColors = NULL;
            meshes[i].colors = map->colors;
        } else {
            meshes[i].heat = map->values;
            meshes[i].heatLow = map->low;
            meshes[i].heatHigh = map->high;
        }
        jnaReport_Center(&meshes[i]);
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 400);
    def.columns = MAP_PANELS;
    jnaPictureDef_Frame(&def, meshes, MAP_PANELS);
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, meshes, MAP_PANELS, &picture, error);
    if (result != jn_ok) {
        return result;
    }
    fprintf(
        r->out, "<figure id=\"%s\"><h3>%s</h3>\n<div class=\"row\" style=\"--least:120px\">\n", map->id, map->title);
    result = WritePanels(r, &picture, MAP_PANELS, labels, error);
    jnaDestroyPicture(&picture);
    fputs("</div>\n", r->out);
    if (map->colors != NULL) {
        WriteDivergingBar(r->out, map->high);
    } else {
        WriteLogBar(r->out, map);
    }
    fputs("</figure>\n", r->out);
    return result;
}

// Logarithms of positive numbers and the range of nearly all of them.
static void FillLogs(const float* numbers, int count, Map* map, float* scratch)
{
    for (int v = 0; v < count; ++v) {
        map->values[v] = log10f(fmaxf(numbers[v], 1e-3f));
    }
    map->low = Percentile(map->values, count, 0.01, scratch);
    map->high = fmaxf(Percentile(map->values, count, 0.99, scratch), map->low + 0.01f);
}

// sign(d) log10(1 + |d|) of d = k_d^2 - 4 k_s.
static void FillRegime(const float* stiffness, const float* damping, int count, Map* map, float* scratch)
{
    for (int v = 0; v < count; ++v) {
        double d = (double)damping[v] * (double)damping[v] - 4 * (double)stiffness[v];
        map->values[v] = (float)copysign(log10(1 + fabs(d)), d);
        scratch[count + v] = fabsf(map->values[v]);
    }
    map->high = fmaxf(Percentile(scratch + count, count, 0.98, scratch), 0.1f);
    for (int v = 0; v < count; ++v) {
        DivergingColor(map->values[v] / map->high, map->colors + 3 * (size_t)v);
    }
}

static jnResult DrawMaps(Report* r, const float* stiffness, const float* damping, jnError* error)
{
    int count = r->character.vertexCount, under = 0;
    float* numbers = malloc((size_t)count * 6 * sizeof(float));
    if (numbers == NULL) {
        return OutOfMemory(error);
    }
    float* scratch = numbers + 4 * (size_t)count;
    Map map = {.id = "map-stiffness", .title = "Stiffness k<sub>s</sub>", .unit = " 1/s²", .values = numbers};
    for (int v = 0; v < count; ++v) {
        under += damping[v] * damping[v] < 4 * stiffness[v];
    }
    fprintf(r->out,
        "<p>What <code>jounce fit</code> learned of each vertex, on logarithmic scales. Flesh is soft and swings "
        "(k<sub>d</sub>² "
        "− 4k<sub>s</sub> below 0, blue); what lies close to a bone is stiff and creeps back (red). %.0f %% of the "
        "vertices "
        "swing.</p>\n<div class=\"row\" style=\"--least:300px\">\n",
        100.0 * under / count);
    FillLogs(stiffness, count, &map, scratch);
    jnResult result = DrawMap(r, &map, error);
    map = (Map){.id = "map-damping", .title = "Damping k<sub>d</sub>", .unit = " 1/s", .values = numbers};
    FillLogs(damping, count, &map, scratch);
    result = result == jn_ok ? DrawMap(r, &map, error) : result;
    map = (Map){.id = "map-regime",
        .title = "k<sub>d</sub>² − 4k<sub>s</sub>",
        .values = numbers,
        .colors = numbers + (size_t)count};
    FillRegime(stiffness, damping, count, &map, scratch);
    result = result == jn_ok ? DrawMap(r, &map, error) : result;
    fputs("</div>\n", r->out);
    free(numbers);
    return result;
}

jnResult jnaReport_HeatMaps(Report* r, jnError* error)
{
    jnaReport_BeginSection(r, "springs", "Springs on the body");
    float *stiffness = NULL, *damping = NULL;
    int count = r->character.vertexCount;
    jnResult result = jnaReport_ReadNumbers(r, "springs/stiffness.npy", count, &stiffness, error);
    result = result == jn_ok ? jnaReport_ReadNumbers(r, "springs/damping.npy", count, &damping, error) : result;
    if (stiffness != NULL && damping != NULL) {
        result = DrawMaps(r, stiffness, damping, error);
    } else if (result == jn_ok) {
        jnaReport_Missing(r, "no springs of single vertices were fitted: jounce fit %s", r->workspace);
    }
    free(stiffness);
    free(damping);
    jnaReport_EndSection(r);
    return result;
}
