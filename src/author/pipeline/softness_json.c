// What jounce anatomy measured, as JSON.
#include "pipeline/softness.h"

#include <jansson.h>

static const char* FitName(jnaSagFit fit)
{
    static const char* const names[] = {"", "fits", "softer", "stiffer"};
    return names[fit];
}

static json_t* RegionJson(const jnaSoftness* s, int r)
{
    double median[3] = {0}, greatest[3] = {0};
    int count = 0;
    json_t *medians = json_array(), *greatests = json_array();
    for (int axis = 0; axis < s->sag.axes; ++axis) {
        count = jnaSag_Region(&s->sag, axis, (jnaRegion)r, &median[axis], &greatest[axis]);
        json_array_append_new(medians, json_real(1e3 * median[axis]));
        json_array_append_new(greatests, json_real(1e3 * greatest[axis]));
    }
    const jnaSagBounds* bounds = &s->sag.expected[r];
    jnaSagFit fit = jnaSoftness_Judge(s, (jnaRegion)r, median[0]);
    json_t* expected =
        jnaSag_Judge(&s->sag, (jnaRegion)r, median[0]) != jna_sagUnknown ? json_pack("[f,f]", 1e3 * bounds->least, 1e3 * bounds->most) : json_null();
    const jnaPhysique* p = &s->sag.physique;
    json_t* region = json_pack("{s:s, s:i, s:f, s:f, s:f, s:o, s:o, s:o, s:s, s:o, s:o}", "region", jnaRegionNames[r],
        "vertices", count, "free", p->freePart[r], "thickness_mm", 1e3 * p->thickness[r], "shear_kpa",
        1e-3 * jnaPhysique_Shear(p, (jnaRegion)r), "sag_median_mm", medians, "sag_greatest_mm", greatests,
        "expected_mm", expected, "judgement", FitName(fit), "hertz",
        s->modes[r] >= 0 ? json_real(s->hertz[r]) : json_null(), "mode",
        s->modes[r] >= 0 ? json_integer(s->modes[r]) : json_null());
    if (count == 0) {
        json_decref(region);
        return NULL;
    }
    return region;
}

static json_t* ClipJson(const jnaSoftness* s, const jnaClipSoftness* clip)
{
    json_t* regions = json_array();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        const jnaRegionMotion* motion = &clip->regions[r];
        double median, greatest;
        if (jnaSag_Region(&s->sag, 0, (jnaRegion)r, &median, &greatest) > 0) {
            json_array_append_new(
                regions, json_pack("{s:s, s:f, s:f, s:i}", "region", jnaRegionNames[r], "rms_mm", 1e3 * motion->rms,
                             "max_mm", 1e3 * motion->most, "frame", motion->frame));
        }
    }
    json_t* lips = s->lipPairs > 0 ? json_real(1e3 * clip->lips) : json_null();
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:i}", "clip", clip->name, "motion",
        clip->simulated ? "simulated" : "modes", "against",
        clip->against == jna_targetsQuasistatic ? "quasistatic" : "skinned", "frames", clip->frameCount, "regions",
        regions, "lips_opening_mm", lips, "lips_frame", clip->lipsFrame);
}

static json_t* PhysiqueJson(const jnaPhysique* p)
{
    return json_pack("{s:s, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "build", jnaBuildName(p->build), "from_manifest",
        p->asked, "fat", p->fat, "height_m", p->height, "waist_m", p->waist, "hip_m", p->hip, "thigh_m", p->thigh,
        "upper_arm_m", p->upperArm, "volume_m3", p->volume);
}

char* jnaSoftness_Json(const jnaSoftness* s)
{
    json_t *regions = json_array(), *clips = json_array(), *warnings = json_array();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        json_t* region = RegionJson(s, r);
        if (region != NULL) {
            json_array_append_new(regions, region);
        }
    }
    for (int i = 0; i < s->clipCount; ++i) {
        json_array_append_new(clips, ClipJson(s, &s->clips[i]));
    }
    for (int i = 0; i < s->warnings.count; ++i) {
        json_array_append_new(warnings, json_string(s->warnings.lines[i]));
    }
    json_t* root = json_pack("{s:i, s:b, s:o, s:b, s:i, s:i, s:f, s:o, s:o, s:o}", "version", 1, "human", s->sag.human,
        "physique", PhysiqueJson(&s->sag.physique), "converged", s->sag.converged, "modes", s->modeCount, "lip_pairs",
        s->lipPairs, "lips_rest_mm", 1e3 * s->lipsRest, "regions", regions, "clips", clips, "warnings", warnings);
    char* text = root != NULL ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    return text;
}
