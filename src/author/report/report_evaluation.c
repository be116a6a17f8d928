// The head of a report and its table of errors, from evaluation/evaluation.json.
#include "report/report_internal.h"

#include <math.h>
#include <string.h>

// Names of the file and what a reader is told.
static const struct {
    const char *name, *words;
} METHODS[] = {
    {"skinned", "skinning alone"},
    {"network", "network alone, no springs"},
    {"springs_on_skinned", "a spring per vertex, on skinning"},
    {"uniform", "one stiffness for all vertices"},
    {"vertex", "a spring per vertex, the paper"},
    {"modal_physical", "modes, from the material alone"},
    {"modal", "modes, fitted"},
};

static const char* TextOf(const json_t* row, const char* key)
{
    const char* text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static double NumberOf(const json_t* row, const char* key)
{
    const json_t* value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char* Words(const char* method)
{
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); ++i) {
        if (strcmp(METHODS[i].name, method) == 0) {
            return METHODS[i].words;
        }
    }
    return method;
}

static bool HasNoSprings(const char* method)
{
    return strcmp(method, "skinned") == 0 || strcmp(method, "network") == 0;
}

// What the manifest ships, in the words of the file.
static const char* ShippedMethod(const Report* r)
{
    bool fitted = r->manifest->springs.mode == jna_springsFitted;
    bool network = r->asset.asset != NULL && r->asset.asset->network != jn_networkNone;
    if (r->layer == jna_layerModal) {
        return fitted ? "modal" : "modal_physical";
    }
    // Springs set by hand are not among those measured.
    return fitted ? (network ? "vertex" : "springs_on_skinned") : "";
}

static const char* ShippedTiming(const Report* r)
{
    return r->asset.asset != NULL && r->asset.asset->timing == (int)jn_timingCausal ? "causal" : "exact";
}

static bool Ships(const Report* r, const json_t* row)
{
    bool network = r->asset.asset != NULL && r->asset.asset->network != jn_networkNone;
    return r->asset.asset != NULL && strcmp(TextOf(row, "method"), ShippedMethod(r)) == 0 &&
           strcmp(TextOf(row, "targets"), network ? "network" : "skinned") == 0 &&
           strcmp(TextOf(row, "timing"), ShippedTiming(r)) == 0;
}

static const json_t* FindShipped(const Report* r, const json_t* rows)
{
    size_t i;
    const json_t* row;
    json_array_foreach(rows, i, row)
    {
        if (Ships(r, row)) {
            return row;
        }
    }
    return NULL;
}

static void WriteNumber(FILE* out, const char* format, double value)
{
    fputs("<td>", out);
    if (isfinite(value)) {
        fprintf(out, format, value);
    } else {
        fputs("–", out);
    }
    fputs("</td>", out);
}

static void WriteShare(FILE* out, double value)
{
    if (!isfinite(value)) {
        fputs("<td>–</td>", out);
        return;
    }
    fprintf(out, "<td>%.2f<span class=\"bar\"><b style=\"width:%.0f%%\"></b></span></td>",
        fabs(value) < 0.005 ? 0 : value, 100 * fmin(fmax(value, 0), 1));
}

// timing: of the rows with springs that are shown; NULL: all.
static void WriteRows(const Report* r, const json_t* rows, const char* timing)
{
    FILE* out = r->out;
    fputs("<div class=\"wide\"><table><tr><th>motion</th><th class=\"l\">target surface</th>", out);
    fputs(timing == NULL ? "<th class=\"l\">timing</th>" : "", out);
    fputs("<th>rms<br>mm</th><th>95 %<br>mm</th><th>rms, soft<br>mm</th><th>captured</th><th>captured,<br>soft "
          "vertices</th><th>fitted<br>to it</th><th>the same,<br>soft</th></tr>\n",
        out);
    size_t i;
    const json_t* row;
    json_array_foreach(rows, i, row)
    {
        const char *method = TextOf(row, "method"), *rowTiming = TextOf(row, "timing");
        if (timing != NULL && !HasNoSprings(method) && strcmp(rowTiming, timing) != 0) {
            continue;
        }
        fprintf(out, "<tr%s><td>", Ships(r, row) ? " class=\"ships\"" : "");
        jnaReport_Text(out, Words(method));
        fputs(Ships(r, row) ? " (exported)</td><td class=\"l\">" : "</td><td class=\"l\">", out);
        jnaReport_Text(out, HasNoSprings(method) ? "–" : TextOf(row, "targets"));
        if (timing == NULL) {
            fputs("</td><td class=\"l\">", out);
            jnaReport_Text(out, HasNoSprings(method) ? "–" : rowTiming);
        }
        fputs("</td>", out);
        WriteNumber(out, "%.2f", NumberOf(row, "rms_mm"));
        WriteNumber(out, "%.2f", NumberOf(row, "p95_mm"));
        WriteNumber(out, "%.2f", NumberOf(row, "rms_soft_mm"));
        WriteShare(out, NumberOf(row, "captured"));
        WriteShare(out, NumberOf(row, "captured_soft"));
        WriteNumber(out, "%.2f", NumberOf(row, "best"));
        WriteNumber(out, "%.2f", NumberOf(row, "best_soft"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static const json_t* GroupRows(const Report* r, const char* group)
{
    return json_object_get(json_object_get(r->evaluation, group), "rows");
}

static void WriteClips(const Report* r)
{
    FILE* out = r->out;
    size_t i;
    const json_t* clip;
    fputs("<details><summary>Every clip, in both timings</summary>\n", out);
    json_array_foreach(json_object_get(r->evaluation, "clips"), i, clip)
    {
        fputs("<h3>", out);
        jnaReport_Text(out, TextOf(clip, "clip"));
        double dropped = NumberOf(clip, "dropped"), failed = NumberOf(clip, "failed");
        double frames = fmax(NumberOf(clip, "frames"), 0);
        fprintf(out, ", %s</h3>\n<p>%.0f of %.0f frames count",
            json_is_true(json_object_get(clip, "trained")) ? "seen" : "unseen",
            frames - (isfinite(failed) ? failed : 0), frames);
        if (isfinite(dropped) && dropped > 0) {
            fprintf(
                out, "; the robust fit of springs per vertex dropped %.0f of them on average for each vertex", dropped);
        }
        if (isfinite(failed) && failed > 0) {
            fprintf(out, "; in %.0f the simulation found no equilibrium, or the pose leaves the flesh no room", failed);
        }
        fputs(".</p>\n", out);
        WriteRows(r, json_object_get(clip, "rows"), NULL);
    }
    fputs("</details>\n", out);
}

void jnaReport_Evaluation(Report* r)
{
    FILE* out = r->out;
    jnaReport_BeginSection(r, "evaluation", "Errors against the simulation");
    if (json_array_size(GroupRows(r, "seen")) == 0 && json_array_size(GroupRows(r, "unseen")) == 0) {
        jnaReport_Missing(r, "no errors measured: jounce evaluate %s", r->workspace);
        jnaReport_EndSection(r);
        return;
    }
    double soft = NumberOf(r->evaluation, "soft_share");
    fprintf(out,
        "<p>Distance from the simulated flesh. <b>Captured</b> is the fraction of the motion that the springs "
        "reproduce, 1 − Σ|x − x<sub>D</sub>|² / Σ|x̂ − x<sub>D</sub>|²: 1 is the simulation itself, 0 no springs at "
        "all, and 0.95 leaves 22 %% of the amplitude. "
        "<b>Soft</b> vertices are the %.0f %% that move most. The column <i>target surface</i> names the surface that "
        "the springs follow: the "
        "springs: "
        "the network, the simulated equilibrium, or skinning. <b>Unseen</b> clips were not used: "
        "nothing that is learned, chosen or limited depends on them. <b>Fitted to it</b> is what springs per vertex "
        "capture if they "
        "are fitted to that very "
        "clip: an upper bound for this model.</p>\n",
        isfinite(soft) ? 100 * soft : 10.0);
    static const struct {
        const char *group, *title;
    } groups[2] = {{"unseen", "Unseen motion"}, {"seen", "Training motion"}};
    for (int g = 0; g < 2; ++g) {
        const json_t* rows = GroupRows(r, groups[g].group);
        fprintf(out, "<figure id=\"table-%s\"><h3>%s</h3>\n", groups[g].group, groups[g].title);
        if (json_array_size(rows) == 0) {
            jnaReport_Missing(r, "no %s clip has motion to compare with: jounce simulate %s --clips --dynamic",
                groups[g].group, r->workspace);
        } else {
            WriteRows(r, rows, ShippedTiming(r));
        }
        fputs("</figure>\n", out);
    }
    fprintf(out, "<p>Springs run in %s timing, as exported%s.</p>\n", ShippedTiming(r),
        strcmp(ShippedTiming(r), "causal") == 0 ? ", without a frame of delay" : "");
    WriteClips(r);
    jnaReport_EndSection(r);
}

static void Fact(FILE* out, const char* value, const char* what)
{
    fputs("<div><b>", out);
    jnaReport_Text(out, value);
    fputs("</b><span>", out);
    jnaReport_Text(out, what);
    fputs("</span></div>\n", out);
}

static const char* LayerWords(const Report* r)
{
    return r->layer == jna_layerModal ? "springs on vibration modes" : "a spring per vertex";
}

static void WriteFacts(Report* r, const json_t* unseen)
{
    FILE* out = r->out;
    char value[64];
    int trained = 0, moving = 0;
    for (int i = 0; i < r->clipCount; ++i) {
        trained += r->clips[i].trained;
        moving += r->clips[i].frameCount > 0;
    }
    fputs("<div class=\"facts\">\n", out);
    snprintf(value, sizeof(value), "%d", r->character->vertexCount);
    Fact(out, value, "vertices");
    snprintf(value, sizeof(value), "%d", r->character->jointCount);
    Fact(out, value, "joints");
    snprintf(value, sizeof(value), "%d + %d", trained, r->clipCount - trained);
    Fact(out, value, moving > 0 ? "clips to train on + to test on" : "clips to train on + to test on, none simulated");
    Fact(out, LayerWords(r), r->manifest->springs.mode == jna_springsFitted ? "dynamics, fitted" : "dynamics");
    if (r->asset.asset != NULL) {
        snprintf(value, sizeof(value), "%.2f MB", 1e-6 * (double)r->asset.size);
        Fact(out, value, "character file");
    }
    if (unseen != NULL && isfinite(NumberOf(unseen, "captured_soft"))) {
        snprintf(value, sizeof(value), "%.2f", NumberOf(unseen, "captured_soft"));
        Fact(out, value, "captured of soft vertices, unseen");
    }
    fputs("</div>\n", out);
}

// The outcome in a sentence, where there is one.
static void WriteOutcome(Report* r, const json_t* unseen)
{
    const json_t* skinned = NULL;
    size_t i;
    const json_t* row;
    json_array_foreach(GroupRows(r, "unseen"), i, row)
    {
        skinned = strcmp(TextOf(row, "method"), "skinned") == 0 ? row : skinned;
    }
    double from = NumberOf(skinned, "rms_mm"), to = NumberOf(unseen, "rms_mm");
    if (unseen != NULL && isfinite(from) && isfinite(to)) {
        fprintf(r->out,
            "<p>On unseen motion, the exported character is <b>%.2f mm</b> (rms) from the simulated "
            "flesh; skinning alone is %.2f mm away.</p>\n",
            to, from);
    }
}

void jnaReport_Summary(Report* r)
{
    FILE* out = r->out;
    fputs("<p>This page compares the exported character with the simulation. The character combines skinning, a "
          "network that "
          "predicts the shape of the flesh in a pose, and springs fitted to a few seconds of simulated motion. "
          "<code>jounce report</code> wrote it; it opens without a connection.</p>\n",
        out);
    const json_t* unseen = FindShipped(r, GroupRows(r, "unseen"));
    WriteFacts(r, unseen);
    WriteOutcome(r, unseen);
    static const struct {
        const char *id, *title;
    } sections[] = {{"surface", "Surface"}, {"worst", "Worst frames"}, {"evaluation", "Errors"},
        {"anatomy", "Softness"}, {"stills", "Stills"}, {"curves", "Dynamics layer"}, {"robust", "Robust fit"},
        {"springs", "Springs"}, {"modes", "Modes"}, {"network", "Network"}, {"poses", "Poses"}, {"sizes", "Sizes"},
        {"times", "Times"}, {"settings", "Settings"}};
    fputs("<nav>", out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); ++i) {
        fprintf(out, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].title);
    }
    fputs("</nav>\n</header>\n", out);
}
