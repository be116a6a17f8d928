// What the pictures of a report share: size and light, where things stand, colour bars, panels on the page.
#include "report/report_internal.h"

#include "base/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES 57.29577951308232

// The ground under the character.
static float Ground(const Report* r)
{
    float low = 0;
    for (int v = 0; v < r->character->vertexCount; ++v) {
        float y = r->character->positions[3 * (size_t)v + 1];
        low = v == 0 || y < low ? y : low;
    }
    return low;
}

jnaPictureDef jnaReport_PictureDef(const Report* r, int panelHeight)
{
    jnaPictureDef def = jnaDefaultPictureDef();
    def.panelHeight = r->def->quick ? panelHeight / 2 : panelHeight;
    def.samples = r->def->quick ? 1 : 2;
    def.directions = r->def->quick ? 8 : 64;
    def.threads = r->def->threads;
    def.groundHeight = Ground(r);
    return def;
}

float jnaReport_Facing(const Report* r, const jnaClip* clip, int frame, float* matrices)
{
    const float* m = matrices + 12 * (size_t)r->pelvis;
    jnaPoseMatrices(r->character, NULL, 0, matrices);
    // The joint's own axis that points along +Z at rest, carried along.
    const float axis[3] = {m[8], m[9], m[10]};
    jnaPoseMatrices(r->character, clip, frame, matrices);
    float x = m[0] * axis[0] + m[1] * axis[1] + m[2] * axis[2];
    float z = m[8] * axis[0] + m[9] * axis[1] + m[10] * axis[2];
    return (float)(DEGREES * atan2((double)x, (double)z));
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

float jnaReport_Percentile(const float* values, int count, double share, float* scratch)
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

jnResult jnaReport_Panels(Report* r, const jnaPicture* picture, int count, const char (*labels)[96], jnError* error)
{
    for (int i = 0; i < count; ++i) {
        fputs("<div>", r->out);
        JN_PASS(jnaReport_Image(r, picture, count, 1, i, labels[i], error));
        fputs("<small>", r->out);
        jnaReport_Text(r->out, labels[i]);
        fputs("</small></div>\n", r->out);
    }
    return jn_ok;
}
