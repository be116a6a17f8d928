// The surface of the exported character in each clip, as the stage "inspect" left it.
#include "surface.h"

#include "base/json.h"
#include "pipeline/inspection_store.h"

#include <stdio.h>

json_t* jncLoadSurface(const char* workspace)
{
    json_t* root = NULL;
    (void)jnaLoadJson(workspace, JNA_SURFACE_NAME, &root, NULL);
    return root;
}

static int IntegerOf(const json_t* clip, const char* key)
{
    return (int)json_integer_value(json_object_get(clip, key));
}

static void PrintMotion(const json_t* motion)
{
    static const jnaRegion soft[] = {
        jna_regionBelly, jna_regionBreast, jna_regionButtock, jna_regionThigh, jna_regionCalf};
    for (size_t i = 0; i < sizeof(soft) / sizeof(soft[0]); ++i) {
        const json_t* value = json_object_get(motion, jnaRegionNames[soft[i]]);
        if (value != NULL) {
            printf(" %7.1f", json_number_value(value));
        } else {
            printf(" %7s", "-");
        }
    }
    printf(" %7.1f\n", json_number_value(json_object_get(motion, "whole")));
}

void jncPrintSurface(const char* workspace)
{
    json_t *root = jncLoadSurface(workspace), *clip;
    size_t i;
    if (json_array_size(json_object_get(root, "clips")) > 0) {
        printf("Surface of character.jounce in each clip, against the %s surface; the largest offset in mm with its "
               "frame; "
               "motion:\nrms of the offset without its mean, in mm\n"
               "  clip                     frames flipped   torn  bad  largest frame   belly  breast buttock   thigh   "
               " calf   "
               "whole\n",
            json_string_value(json_object_get(root, "against")));
    }
    json_array_foreach(json_object_get(root, "clips"), i, clip)
    {
        printf("  %-24.24s %6d %7d %6d %4d %8.1f %5d", json_string_value(json_object_get(clip, "name")),
            IntegerOf(clip, "frames"), IntegerOf(clip, "flipped"), IntegerOf(clip, "torn"),
            IntegerOf(clip, "bad_frames"), json_number_value(json_object_get(clip, "largest_mm")),
            IntegerOf(clip, "worst_frame"));
        PrintMotion(json_object_get(clip, "motion_mm"));
    }
    json_decref(root);
}
