// The last sections of a report: the poses that were solved, sizes, times, settings and versions.
#include "report/report_internal.h"

#include "base/input.h"
#include "base/path.h"
#include "jounce/character.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef JNA_HAVE_ASSIMP
#include <assimp/version.h>
#endif
#ifdef JNA_HAVE_CAIRO
#include <cairo.h>
#endif
#ifdef JNA_HAVE_ONEDNN
#include <dnnl.h>
#endif

enum { MOST_REASONS = 12 };

static int CountFlags(const char* workspace, const char* name, uint8_t flag)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array;
    if (jnaJoinPath(workspace, name, path, NULL) != jn_ok || jnaOpenArray(path, &array, NULL) != jn_ok) {
        return -1;
    }
    int count = 0;
    for (size_t i = 0; array.scalar == jna_uint8 && i < array.count; ++i) {
        count += ((const uint8_t*)array.data)[i] == flag;
    }
    jnaCloseArray(&array);
    return count;
}

static void WriteFailures(Report* r, const json_t* failures)
{
    FILE* out = r->out;
    size_t i, count = json_array_size(failures);
    const json_t* failure;
    fputs("<div class=\"wide\"><table id=\"failures\"><tr><th>pose</th><th class=\"l\">why it is left out</th></tr>\n",
        out);
    json_array_foreach(failures, i, failure)
    {
        if (i >= MOST_REASONS) {
            break;
        }
        const char* reason = json_string_value(json_object_get(failure, "reason"));
        fprintf(
            out, "<tr><td>%lld</td><td class=\"l\">", (long long)json_integer_value(json_object_get(failure, "index")));
        jnaReport_Text(out, reason != NULL ? reason : "?");
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div>\n", out);
    if (count > MOST_REASONS) {
        fprintf(out, "<p>And %zu more, in <code>poses/poses.json</code>.</p>\n", count - MOST_REASONS);
    }
}

void jnaReport_Poses(Report* r)
{
    FILE* out = r->out;
    jnaReport_BeginSection(r, "poses", "Simulated poses");
    if (r->poses == NULL) {
        jnaReport_Missing(r, "no poses solved: jounce simulate %s --poses", r->workspace);
        jnaReport_EndSection(r);
        return;
    }
    long long count = json_integer_value(json_object_get(r->poses, "count"));
    long long failed = json_integer_value(json_object_get(r->poses, "failed"));
    int random = CountFlags(r->workspace, "poses/kind.npy", 0),
        held = CountFlags(r->workspace, "poses/held_out.npy", 1);
    fprintf(out, "<p>The equilibrium of the flesh was simulated in <b>%lld</b> poses", count);
    if (random >= 0) {
        fprintf(out, ", %d of them drawn at random within the ranges of the joints", random);
    }
    if (held > 0) {
        fprintf(out, ", %d frames of training clips held back for measuring", held);
    }
    fprintf(out, ". <b>%lld</b> failed%s</p>\n", failed, failed > 0 ? " and are not used for training:" : ".");
    if (failed > 0) {
        WriteFailures(r, json_object_get(r->poses, "failures"));
    }
    jnaReport_EndSection(r);
}

void jnaReport_Sizes(Report* r)
{
    FILE* out = r->out;
    jnaReport_BeginSection(r, "sizes", "Size of the exported character");
    const jnAsset* asset = r->asset.asset;
    if (asset == NULL) {
        jnaReport_Missing(r, "no file for the runtime: jounce build %s", r->workspace);
        jnaReport_EndSection(r);
        return;
    }
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    fprintf(out,
        "<p>One file, shared by all characters made from it: <b>%.2f MB</b>. Each character takes <b>%.2f MB</b> of "
        "memory "
        "besides, in one block. %d of %d vertices have springs of their own.</p>\n",
        1e-6 * (double)r->asset.size, 1e-6 * (double)jnCharacter_ByteCount(&def), asset->springCount,
        asset->vertexCount);
    fputs(
        "<details><summary>Sections of the file</summary><div class=\"wide\"><table><tr><th>section</th><th>bytes</th>"
        "<th>fraction</th></tr>\n",
        out);
    for (int i = 0; i < jnAsset_SectionCount(asset); ++i) {
        jnAssetSection section = jnAsset_Section(asset, i);
        fputs("<tr><td>", out);
        jnaReport_Text(out, section.id);
        fprintf(out, "</td><td>%zu</td><td>%.1f %%</td></tr>\n", section.size,
            100 * (double)section.size / (double)r->asset.size);
    }
    fputs("</table></div></details>\n", out);
    jnaReport_EndSection(r);
}

static int IsRecord(const struct dirent* entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

// Sum of an array of times; below 0 where there is none.
static double SumTimes(const char* workspace, const char* name)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array;
    if (jnaJoinPath(workspace, name, path, NULL) != jn_ok || jnaOpenArray(path, &array, NULL) != jn_ok) {
        return -1;
    }
    double sum = 0;
    for (size_t i = 0; array.scalar <= jna_float64 && i < array.count; ++i) {
        sum += jnaArray_Get(&array, i);
    }
    jnaCloseArray(&array);
    return sum;
}

static void WriteTime(FILE* out, const char* what, const char* kind, double seconds)
{
    fputs("<tr><td>", out);
    jnaReport_Text(out, what);
    fprintf(out, "</td><td>%.*f</td><td class=\"l\">%s</td></tr>\n",
        seconds < 10    ? 2
        : seconds < 100 ? 1
                        : 0,
        seconds, kind);
}

static int WriteStages(Report* r)
{
    char folder[JNA_PATH_LENGTH];
    struct dirent** entries = NULL;
    int written = 0;
    int count =
        jnaJoinPath(r->workspace, "stages", folder, NULL) == jn_ok ? scandir(folder, &entries, IsRecord, alphasort) : 0;
    for (int i = 0; i < count; ++i) {
        char path[JNA_PATH_LENGTH];
        json_t* record =
            jnaJoinPath(folder, entries[i]->d_name, path, NULL) == jn_ok ? jnaReadJson(path, 0, NULL) : NULL;
        const json_t* seconds = json_object_get(record, "seconds");
        if (json_is_number(seconds)) {
            entries[i]->d_name[strlen(entries[i]->d_name) - 5] = '\0';
            WriteTime(r->out, entries[i]->d_name, "seconds", json_number_value(seconds));
            written++;
        }
        json_decref(record);
        free(entries[i]);
    }
    free(entries);
    return written;
}

static int WriteSolves(Report* r)
{
    int written = 0;
    double sum = SumTimes(r->workspace, "poses/times.npy");
    if (sum >= 0) {
        WriteTime(r->out, "poses, one after another", "core seconds", sum);
        written++;
    }
    for (int i = 0; i < r->clipCount; ++i) {
        static const char* const kinds[2] = {"quasistatic", "dynamic"};
        for (int k = 0; k < 2; ++k) {
            char name[JNA_NAME_LENGTH + 64], what[JNA_NAME_LENGTH + 32];
            snprintf(name, sizeof(name), "motion/%.64s/%s_times.npy", r->clips[i].name, kinds[k]);
            snprintf(what, sizeof(what), "%.64s, %s", r->clips[i].name, kinds[k]);
            sum = SumTimes(r->workspace, name);
            if (sum >= 0) {
                WriteTime(r->out, what, "core seconds", sum);
                written++;
            }
        }
    }
    return written;
}

void jnaReport_Timings(Report* r)
{
    jnaReport_BeginSection(r, "times", "Times");
    fputs("<div class=\"wide\"><table id=\"timings\"><tr><th>stage</th><th>time</th><th class=\"l\"></th></tr>\n",
        r->out);
    int written = WriteStages(r);
    written += WriteSolves(r);
    fputs(written == 0 ? "<tr><td>nothing recorded</td><td></td><td></td></tr></table></div>\n" : "</table></div>\n",
        r->out);
    jnaReport_EndSection(r);
}

// Of the parts that this build has.
static void WritePartVersions(FILE* out)
{
#ifdef JNA_HAVE_ASSIMP
    fprintf(out, ", Assimp %u.%u", aiGetVersionMajor(), aiGetVersionMinor());
#endif
#ifdef JNA_HAVE_CAIRO
    fprintf(out, ", cairo %s", cairo_version_string());
#endif
#ifdef JNA_HAVE_ONEDNN
    const dnnl_version_t* dnnl = dnnl_version();
    fprintf(out, ", oneDNN %d.%d.%d", dnnl->major, dnnl->minor, dnnl->patch);
#endif
    (void)out;
}

void jnaReport_Settings(Report* r)
{
    FILE* out = r->out;
    jnaReport_BeginSection(r, "settings", "Settings and versions");
    fprintf(out, "<p id=\"versions\">Jounce %s, files of version %d; jansson %s", jnVersion(), (int)JN_ASSET_VERSION,
        JANSSON_VERSION);
    WritePartVersions(out);
    fputs(".</p>\n", out);
    fputs("<details id=\"manifest\"><summary>manifest.yaml, all that was set</summary>\n<pre>", out);
    jnaReport_Text(out, r->manifestText);
    fputs("</pre></details>\n", out);
    jnaReport_EndSection(r);
}
