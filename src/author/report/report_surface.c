// What the build saw when it played the clips: the worst frame, skinned beside played, and a table of the clips.
#include "report/report_internal.h"

#include "base/json.h"
#include "base/mapped_file.h"
#include "base/path.h"
#include "pipeline/inspection_store.h"

#include "runtime/for_author.h"

static long long IntegerOf(const json_t* clip, const char* key)
{
    return (long long)json_integer_value(json_object_get(clip, key));
}

static void WriteMotion(FILE* out, const json_t* motion)
{
    static const char* const shown[] = {"belly", "breast", "buttock", "thigh", "calf", "whole"};
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); ++i) {
        const json_t* value = json_object_get(motion, shown[i]);
        if (value != NULL) {
            fprintf(out, "<td>%.1f</td>", json_number_value(value));
        } else {
            fputs("<td>–</td>", out);
        }
    }
}

static void WriteClips(FILE* out, const json_t* clips)
{
    size_t i;
    const json_t* clip;
    fputs("<figure id=\"surface-clips\"><h3>Breaks and motion in each clip</h3><div class=\"wide\"><table><tr>"
          "<th class=\"l\">clip</th><th>frames</th><th>flipped<br>triangles</th><th>torn<br>edges</th>"
          "<th>frames that<br>break</th><th>largest<br>offset, mm</th><th>frame</th><th class=\"l\">at</th>"
          "<th>belly<br>mm rms</th><th>breast</th><th>buttock</th><th>thigh</th><th>calf</th><th>whole</th></tr>\n",
        out);
    json_array_foreach(clips, i, clip)
    {
        fputs("<tr><td class=\"l\">", out);
        jnaReport_Text(out, json_string_value(json_object_get(clip, "name")));
        fprintf(out,
            "</td><td>%lld</td><td>%lld</td><td>%lld</td><td>%lld</td><td>%.1f</td><td>%lld</td><td class=\"l\">",
            IntegerOf(clip, "frames"), IntegerOf(clip, "flipped"), IntegerOf(clip, "torn"),
            IntegerOf(clip, "bad_frames"), json_number_value(json_object_get(clip, "largest_mm")),
            IntegerOf(clip, "worst_frame"));
        jnaReport_Text(out, json_string_value(json_object_get(clip, "place")));
        fputs("</td>", out);
        WriteMotion(out, json_object_get(clip, "motion_mm"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div><figcaption>A triangle is flipped if its normal turns by more than 120 degrees; an edge is "
          "torn if "
          "it is longer than 1.8 times or shorter than 0.45 times what it is at rest and without springs. Motion: the "
          "offset of the region's vertices over all frames, without its mean.</figcaption></figure>\n",
        out);
}

static void WritePreview(Report* r)
{
    char path[JNA_PATH_LENGTH];
    jnaMappedFile file = {0};
    if (jnaJoinPath(r->workspace, JNA_PREVIEW_NAME, path, NULL) != jn_ok || jnaMapFile(path, &file, NULL) != jn_ok) {
        return;
    }
    fputs("<figure id=\"preview\"><h3>The worst frame, without springs and played</h3>", r->out);
    jnaReport_Png(r, file.bytes, file.size, "the worst frame of all clips");
    fputs("<figcaption>What flips or tears is red.</figcaption></figure>\n", r->out);
    jnaUnmapFile(&file);
}

void jnaReport_Surface(Report* r)
{
    json_t *root = NULL, *line;
    size_t i;
    jnaReport_BeginSection(r, "surface", "What the surface does in the clips");
    (void)jnaLoadJson(r->workspace, JNA_SURFACE_NAME, &root, NULL);
    if (root == NULL) {
        jnaReport_Missing(r, "the surface was not looked at: jounce build %s plays all clips", r->workspace);
    }
    json_array_foreach(json_object_get(root, "notes"), i, line)
    {
        fputs("<p>", r->out);
        jnaReport_Text(r->out, json_string_value(line));
        fputs("</p>\n", r->out);
    }
    if (json_array_size(json_object_get(root, "clips")) > 0) {
        WritePreview(r);
        WriteClips(r->out, json_object_get(root, "clips"));
    }
    json_decref(root);
    jnaReport_EndSection(r);
}
