// How soft the flesh is by region of the body, beside the errors: a picture, the sag under gravity, the lowest
// frequencies, and how far the skin swings in each clip.
#include "report/report_internal.h"

#include "base/path.h"
#include "base/try.h"
#include "draw/softness_picture.h"
#include "pipeline/softness.h"

#include "runtime/for_author.h"

#include <unistd.h>

// What a measurement may take of the time of a report, for its progress.
#define MEASURE_SHARE 0.05

static int CountOf(const jnaSoftness* s, int region)
{
    double median, greatest;
    return jnaSag_Region(&s->sag, 0, (jnaRegion)region, &median, &greatest);
}

static void WriteSag(Report* r, const jnaSoftness* s)
{
    FILE* out = r->out;
    fputs("<figure id=\"sag\"><h3>Sag under 1 g and lowest frequency</h3><div class=\"wide\"><table><tr><th>region</th>"
          "<th>−Y<br>mm</th><th>−X<br>mm</th><th>−Z<br>mm</th><th>largest<br>−Y, mm</th><th>expected<br>−Y, mm</th>"
          "<th>lowest<br>Hz</th><th class=\"l\"></th></tr>\n",
        out);
    for (int region = 0; region < JNA_REGIONS; ++region) {
        double median[3] = {0}, greatest[3] = {0};
        int count = 0;
        for (int axis = 0; axis < 3; ++axis) {
            count = jnaSag_Region(&s->sag, axis, (jnaRegion)region, &median[axis], &greatest[axis]);
        }
        if (count == 0) {
            continue;
        }
        jnaSagFit fit = jnaSoftness_Judge(s, (jnaRegion)region, median[0]);
        fprintf(out, "<tr><td>%s</td><td>%.1f</td><td>%.1f</td><td>%.1f</td><td>%.1f</td>", jnaRegionNames[region],
            1e3 * median[0], 1e3 * median[1], 1e3 * median[2], 1e3 * greatest[0]);
        if (jnaSag_Judge(&s->sag, (jnaRegion)region, median[0]) != jna_sagUnknown) {
            fprintf(out, "<td>%.1f–%.1f</td>", 1e3 * s->sag.expected[region].least, 1e3 * s->sag.expected[region].most);
        } else {
            fputs("<td>–</td>", out);
        }
        if (s->modes[region] >= 0) {
            fprintf(out, "<td>%.1f</td>", s->hertz[region]);
        } else {
            fputs("<td>–</td>", out);
        }
        fprintf(out, "<td class=\"l\">%s</td></tr>\n", jnaSagFit_Words(fit));
    }
    fputs("</table></div><figcaption>Medians over the region's skin, bones held, without contact.</figcaption></figure>"
          "\n",
        out);
}

static void WriteMotion(Report* r, const jnaSoftness* s)
{
    FILE* out = r->out;
    if (s->clipCount == 0) {
        jnaReport_Missing(r, "no motion by region: jounce modes %s, or jounce simulate %s --clips --dynamic",
            r->workspace, r->workspace);
        return;
    }
    fputs("<figure id=\"swing\"><h3>Motion of the skin</h3><div class=\"wide\"><table><tr><th>mm</th>", out);
    for (int i = 0; i < s->clipCount; ++i) {
        fputs("<th>", out);
        jnaReport_Text(out, s->clips[i].name);
        fprintf(out, "<br>%s</th>", s->clips[i].simulated ? "simulated" : "by modes");
    }
    fputs("</tr>\n", out);
    for (int region = 0; region < JNA_REGIONS; ++region) {
        if (CountOf(s, region) == 0) {
            continue;
        }
        fprintf(out, "<tr><td>%s</td>", jnaRegionNames[region]);
        for (int i = 0; i < s->clipCount; ++i) {
            const jnaRegionMotion* motion = &s->clips[i].regions[region];
            fprintf(out, "<td>%.1f, %.1f</td>", 1e3 * motion->rms, 1e3 * motion->most);
        }
        fputs("</tr>\n", out);
    }
    fputs("<tr><td>lips open by</td>", out);
    for (int i = 0; i < s->clipCount; ++i) {
        fprintf(out, s->lipPairs > 0 ? "<td>%.2f</td>" : "<td>n/a</td>", 1e3 * s->clips[i].lips);
    }
    fputs("</tr>\n</table></div><figcaption>Root mean square and largest distance of a region's skin from where the "
          "pose alone has it (the simulated equilibrium, or skinning). Lips: how much farther apart than skinning has "
          "them two vertices are that touch at rest.</figcaption></figure>\n",
        out);
}

static jnResult DrawSag(Report* r, const jnaSoftness* s, jnError* error)
{
    static const char* const labels[] = {
        "sag, front", "sag, side", "sag, back", "regions, front", "regions, side", "regions, back"};
    jnaPictureDef def = jnaReport_PictureDef(r, 300);
    def.directions = r->def->quick ? 8 : 16;
    jnaPicture picture = {0};
    double high = 0;
    JN_PASS(jnaDrawSoftness(&s->sag, r->character, &def, &picture, &high, error));
    jnResult result = jn_ok;
    fputs("<figure id=\"anatomy-picture\"><div class=\"row\" style=\"--least:110px\">\n", r->out);
    for (int i = 0; i < JNA_SOFTNESS_COLUMNS * JNA_SOFTNESS_ROWS; ++i) {
        fputs("<div>", r->out);
        JN_TRY(jnaReport_Image(r, &picture, JNA_SOFTNESS_COLUMNS, JNA_SOFTNESS_ROWS, i, labels[i], error));
        fprintf(r->out, "<small>%s</small></div>\n", labels[i]);
    }
done:
    fputs("</div>\n", r->out);
    const double shares[2] = {0, 1};
    char ends[2][16] = {"0"};
    snprintf(ends[1], sizeof(ends[1]), "%.1f", 1e3 * high);
    jnaReport_HeatBar(r->out, 2, shares, ends, " mm");
    fputs("</figure>\n", r->out);
    jnaDestroyPicture(&picture);
    return result;
}

static bool Watch(const jnaProgress* progress, void* user)
{
    Report* r = user;
    return jnaWatch_GoesOn(&r->def->watch, r->share + MEASURE_SHARE * progress->share);
}

static jnResult WriteAll(Report* r, const jnaSoftness* s, jnError* error)
{
    fprintf(r->out,
        "<p>How far the skin of each region sags when gravity is switched on in the rest pose. "
        "%s%s%s A part that sags by 20 mm swings at about 3.5 Hz, one that sags by 2 mm at 11 Hz.</p>\n",
        s->sag.human ? "The expected values follow from the physique, which is " : "",
        s->sag.human ? jnaBuildName(s->sag.physique.build) : "",
        s->sag.human ? "." : "This is not a standing human body, so it is not compared with people.");
    for (int i = 0; i < s->warnings.count; ++i) {
        jnaReport_Missing(r, "%s", s->warnings.lines[i]);
    }
    jnResult result = DrawSag(r, s, error);
    WriteSag(r, s);
    WriteMotion(r, s);
    return result;
}

jnResult jnaReport_Anatomy(Report* r, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaSoftness s = {0};
    jnError why = {0};
    jnaSoftnessDef def = jnaDefaultSoftnessDef();
    def.watch = (jnaWatch){Watch, r};
    jnResult result = jnaJoinPath(r->workspace, "volume/held_by.npy", path, error);
    if (result != jn_ok) {
        return result;
    }
    jnaReport_BeginSection(r, "anatomy", "Softness");
    if (access(path, R_OK) != 0) {
        jnaReport_Missing(r, "no flesh to measure: jounce tetrahedralize %s", r->workspace);
    } else if (jnaMeasureSoftness(r->workspace, &def, &s, &why) != jn_ok) {
        bool ends = why.code == jn_outOfMemory || why.code == jn_cancelled;
        result = ends ? jnFail(error, why.code, "%s", why.message) : jn_ok;
        jnaReport_Missing(r, "%s", why.message);
    } else {
        result = WriteAll(r, &s, error);
    }
    jnaDestroySoftness(&s);
    jnaReport_EndSection(r);
    return result;
}
