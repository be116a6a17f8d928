// What an inspection says to a person: one line for all clips, one for the motion, and warnings.
#include "pipeline/inspection.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>

int jnaClipInspection_Worst(const jnaClipInspection* clip)
{
    return clip->brokenFrame >= 0 ? clip->brokenFrame : clip->frame;
}

double jnaInspection_TornInAMillion(const jnaInspection* in, int64_t torn, int64_t frames)
{
    return 1e6 * (double)torn / fmax((double)frames * in->edgeCount, 1);
}

bool jnaInspection_IsWhole(const jnaInspection* in)
{
    return in->flipped == 0 && jnaInspection_TornInAMillion(in, in->torn, in->frameCount) <= JNA_TORN_ACCEPTED;
}

const char* jnaInspection_Place(const jnaInspection* in, int vertex, char* text)
{
    const jnaCharacter* c = in->character;
    jnaRegion region = (jnaRegion)in->regions[vertex];
    if (region != jna_regionOther) {
        snprintf(text, 96, "the %s", jnaRegionNames[region]);
    } else {
        snprintf(text, 96, "joint %.80s", c->joints[c->influences[vertex].joints[0]].name);
    }
    return text;
}

// "motion, mm rms in 22_16: breast 12.1, belly 8.4, ..."; a body without these parts: all of it.
static void TellMotion(const jnaInspection* in, jnaNotes* notes)
{
    static const jnaRegion soft[] = {
        jna_regionBelly, jna_regionBreast, jna_regionButtock, jna_regionThigh, jna_regionCalf};
    const jnaClipInspection* clip = &in->clips[in->strongest];
    char text[JNA_NOTE_LENGTH / 2] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof(soft) / sizeof(soft[0]); ++i) {
        if (in->sizes[soft[i]] > 0) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %.1f", used > 0 ? ", " : "",
                jnaRegionNames[soft[i]], 1e3 * clip->motion[soft[i]]);
        }
    }
    if (used == 0) {
        snprintf(text, sizeof(text), "whole surface %.1f", 1e3 * clip->whole);
    }
    jnaNotes_Add(notes, "motion: %s mm rms in %s", text, clip->name);
}

static void WarnOfClip(const jnaInspection* in, const jnaClipInspection* clip, jnaNotes* notes)
{
    char place[96];
    jnaNotes_Add(notes,
        "warning: the surface breaks in %d of %d frames of %s%s: %lld flipped triangles, %lld torn edges; worst in "
        "frame "
        "%d at %s",
        clip->badFrames, clip->frameCount, clip->name, clip->isTest ? " (test)" : "", (long long)clip->flipped,
        (long long)clip->torn, clip->brokenFrame, jnaInspection_Place(in, clip->brokenVertex, place));
}

// The clips that break, those with most breaks first. Returns how many there are.
static int WarnOfBreaks(const jnaInspection* in, int most, jnaNotes* notes)
{
    int count = 0, last = -1;
    for (int i = 0; i < in->clipCount; ++i) {
        count += in->clips[i].brokenFrame >= 0;
    }
    for (int told = 0; told < count && told < most; ++told) {
        int next = -1;
        for (int i = 0; i < in->clipCount; ++i) {
            int64_t breaks = in->clips[i].flipped + in->clips[i].torn;
            int64_t before = last >= 0 ? in->clips[last].flipped + in->clips[last].torn : INT64_MAX;
            int64_t best = next >= 0 ? in->clips[next].flipped + in->clips[next].torn : 0;
            bool left = breaks < before || (breaks == before && i > last);
            next = left && breaks > best ? i : next;
        }
        WarnOfClip(in, &in->clips[next], notes);
        last = next;
    }
    return count;
}

void jnaInspection_Tell(const jnaInspection* in, int most, jnaNotes* notes)
{
    char place[96];
    if (in->clipCount == 0) {
        jnaNotes_Add(notes, "surface: there is no clip to look at");
        return;
    }
    const jnaClipInspection* far = &in->clips[in->farthest];
    jnaNotes_Add(notes,
        "surface: %d %s, %lld frames: %lld flipped, %lld torn edges (%.2f in a million), worst frame %d of %s at %s, "
        "%.1f mm",
        in->clipCount, in->clipCount == 1 ? "clip" : "clips", (long long)in->frameCount, (long long)in->flipped,
        (long long)in->torn, jnaInspection_TornInAMillion(in, in->torn, in->frameCount), far->frame, far->name,
        jnaInspection_Place(in, far->vertex, place), 1e3 * far->largest);
    TellMotion(in, notes);
    int broken = WarnOfBreaks(in, most, notes);
    if (broken > most) {
        jnaNotes_Add(notes, "warning: the surface breaks in %d more %s; jounce check lists them", broken - most,
            broken - most == 1 ? "clip" : "clips");
    }
    if (in->still) {
        jnaNotes_Add(notes, "warning: nothing moves in any clip, although the skeleton does: %s",
            in->modal ? "the flesh is too stiff or its motion is limited to nothing (springs.cap, materials)"
                      : "there is no vibration mode; the flesh is too thin or too stiff (modes.cutoff, materials)");
    }
}
