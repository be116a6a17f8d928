// See clip_parts.h.
#include "workspace/clip_parts.h"

#include "base/try.h"

#include "runtime/for_author.h"

jnResult jnaCutClips(jnaWorkspace* w, jnaClipParts* parts, jnError* error)
{
    int count = w->manifest.clipCount;
    const jnaClip* clips;
    *parts = (jnaClipParts){0};
    JN_PASS(jnaWorkspace_Clips(w, &clips, error));
    parts->clips = jnaArena_Take(&parts->arena, count, sizeof(*parts->clips));
    parts->roles = jnaArena_Take(&parts->arena, count, sizeof(*parts->roles));
    parts->index = jnaArena_Take(&parts->arena, count, sizeof(int));
    parts->first = jnaArena_Take(&parts->arena, count, sizeof(int));
    JN_PASS(jnaArena_Check(&parts->arena, "clips", error));
    for (int i = 0; i < count; ++i) {
        int first, frames;
        JN_PASS(jnaManifestClip_Part(&w->manifest.clips[i], clips[i].frameCount, &first, &frames, error));
        if (frames == 0) {
            continue;
        }
        jnaClip* clip = &parts->clips[parts->count];
        size_t skipped = (size_t)first * (size_t)clips[i].jointCount;
        *clip = clips[i];
        clip->frameCount = frames;
        clip->rotations += 4 * skipped;
        clip->translations += 3 * skipped;
        clip->scales = clip->scales != NULL ? clip->scales + 3 * skipped : NULL;
        parts->roles[parts->count] = w->manifest.clips[i].role;
        parts->index[parts->count] = i;
        parts->first[parts->count++] = first;
    }
    return jn_ok;
}

void jnaClipParts_KeepTraining(jnaClipParts* parts)
{
    int count = 0;
    for (int i = 0; i < parts->count; ++i) {
        if (parts->roles[i] == jna_train) {
            parts->clips[count] = parts->clips[i];
            parts->roles[count] = jna_train;
            parts->index[count] = parts->index[i];
            parts->first[count++] = parts->first[i];
        }
    }
    parts->count = count;
}
