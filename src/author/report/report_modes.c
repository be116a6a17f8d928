// The modes of a report: a table of the lowest, and what they look like.
#include "report/report_internal.h"

#include "base/affine.h"
#include "base/path.h"
#include "base/try.h"
#include "draw/modes_picture.h"
#include "modes/modes.h"
#include "workspace/modes_store.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_PICTURES = 12, MOST_ROWS = 64, FEW_ROWS = 12 };

static double Ratio(double stiffness, double damping)
{
    return stiffness > 0 ? damping / (2 * sqrt(stiffness)) : 0;
}

static void WriteRow(Report* r, const jnaModes* m, int k, float* const fitted[3])
{
    FILE* out = r->out;
    fprintf(out, "<tr><td>%d</td><td class=\"l\">", k);
    jnaReport_Text(out, r->character->joints[m->joints[k]].name);
    fprintf(out, "</td><td>%.2f</td><td>%.2f</td>", sqrt(m->stiffness[k]) / JNA_TURN,
        Ratio(m->stiffness[k], m->damping[k]));
    if (fitted[0] != NULL) {
        fprintf(out, "<td>%.2f</td><td>%.2f</td><td>%.2f</td>", sqrt(fmax((double)fitted[0][k], 0)) / JNA_TURN,
            Ratio((double)fitted[0][k], (double)fitted[1][k]), (double)fitted[2][k]);
    }
    fprintf(out, "<td>%.1f %%</td><td>%d</td></tr>\n", 100 * m->massShare[k], m->sizes[k]);
}

static jnResult WriteTable(Report* r, const jnaModes* m, jnError* error)
{
    static const char* const names[3] = {
        "springs/modal_stiffness.npy", "springs/modal_damping.npy", "springs/modal_gain.npy"};
    FILE* out = r->out;
    float* fitted[3] = {NULL, NULL, NULL};
    jnResult result = jn_ok;
    for (int i = 0; i < 3; ++i) {
        JN_TRY(jnaReport_ReadNumbers(r, names[i], m->modeCount, &fitted[i], error));
    }
done:
    if (fitted[1] == NULL || fitted[2] == NULL) {
        free(fitted[0]);
        fitted[0] = NULL;
    }
    static const char more[] = "<th>fitted<br>hertz</th><th>fitted<br>ratio</th><th>fitted<br>gain</th>";
    for (int k = 0; k < m->modeCount && k < MOST_ROWS; ++k) {
        if (k == 0 || k == FEW_ROWS) {
            fputs(k == FEW_ROWS ? "</table></div>\n<details><summary>The others</summary>\n" : "", out);
            fprintf(out,
                "<div class=\"wide\"><table%s><tr><th>mode</th><th "
                "class=\"l\">region</th><th>hertz</th><th>damping<br>ratio"
                "</th>%s<th>mass</th><th>vertices</th></tr>\n",
                k == 0 ? " id=\"mode-table\"" : "", fitted[0] != NULL ? more : "");
        }
        WriteRow(r, m, k, fitted);
    }
    fputs("</table></div>\n", out);
    fputs(m->modeCount > FEW_ROWS ? "</details>\n" : "", out);
    for (int i = 0; i < 3; ++i) {
        free(fitted[i]);
    }
    return result;
}

static jnResult DrawModes(Report* r, const jnaModes* m, jnError* error)
{
    int count = m->modeCount < MOST_PICTURES ? m->modeCount : MOST_PICTURES;
    jnaPictureDef def = jnaReport_PictureDef(r, 300);
    def.panelWidth = 2 * def.panelHeight / 3;
    def.columns = count;
    def.directions = r->def->quick ? 8 : 16;
    jnaPicture picture;
    JN_PASS(jnaDrawModes(m, r->character, count, 0.03 * jnaHeightOf(r->character), &def, &picture, error));
    jnResult result = jn_ok;
    fputs("<figure id=\"mode-shapes\"><div class=\"row\" style=\"--least:130px\">\n", r->out);
    for (int k = 0; k < count; ++k) {
        char label[128];
        snprintf(label, sizeof(label), "%d: %.2f Hz, %s", k, sqrt(m->stiffness[k]) / JNA_TURN,
            r->character->joints[m->joints[k]].name);
        fputs("<div>", r->out);
        JN_TRY(jnaReport_Image(r, &picture, count, 1, k, label, error));
        fputs("<small>", r->out);
        jnaReport_Text(r->out, label);
        fputs("</small></div>\n", r->out);
    }
done:
    fputs("</div><figcaption>Shapes of the lowest modes, far larger than in motion; bright is where they move most."
          "</figcaption></figure>\n",
        r->out);
    jnaDestroyPicture(&picture);
    return result;
}

jnResult jnaReport_Modes(Report* r, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaModes modes = {0};
    jnError why = {0};
    JN_PASS(jnaJoinPath(r->workspace, "modes/modes.json", path, error));
    jnResult result = jn_ok;
    jnaReport_BeginSection(r, "modes", "Vibration modes");
    if (access(path, R_OK) != 0) {
        jnaReport_Missing(r, "no vibration modes: jounce modes %s", r->workspace);
    } else if (jnaLoadModes(r->workspace, &modes, &why) != jn_ok) {
        JN_TRY(why.code == jn_outOfMemory ? jnFail(error, why.code, "%s", why.message) : jn_ok);
        jnaReport_Missing(r, "%s", why.message);
    } else if (modes.modeCount < 1 || modes.vertexCount != r->character->vertexCount) {
        jnaReport_Missing(r, "the modes are of another character: jounce modes %s", r->workspace);
    } else {
        fprintf(r->out,
            "<p>The %d lowest vibration modes of the flesh, computed from its material and its bones%s.</p>\n",
            modes.modeCount, r->layer == jna_layerVertex ? "; the springs that ship are those of single vertices" : "");
        JN_TRY(WriteTable(r, &modes, error));
        JN_TRY(DrawModes(r, &modes, error));
    }
done:
    jnaDestroyModes(&modes);
    jnaReport_EndSection(r);
    return result;
}
