// The level of detail of a character as morph weights: how many of the modes and components are in use.
//
// The first of each, as with a character that is made with so few: the arrays of the modes are packed to whole blocks
// of those in use, so that a step costs what it would cost there. What goes is faded first and dropped then; what comes
// begins at rest and is faded in. A fade is f^2 (3 - 2 f) of a time that runs evenly, so that what is shown and its
// velocity have no jump.
#include "morphs.h"

#include <string.h>

static int LanesOf(int modes)
{
    return jnBlockCount(modes) * JN_LANES;
}

void jnMorphs_FollowLevel(jnMorphs* m)
{
    const jnAssetModes* modes = m->modes;
    m->modeCount = m->level->modes;
    m->componentCount = m->level->components;
    m->lanes = LanesOf(m->modeCount);
    m->coefficientTime = 0.0;
    m->pairCount = 0;
    for (int i = 0; modes != NULL && i < modes->pairCount; ++i) {
        if (modes->pairs[2 * i] < m->modeCount) { // the larger of the two
            m->pairCount = i + 1;
        }
    }
}

// Rows of `from` lanes become rows of `to` lanes; what is new is 0, and so is what stands behind `kept` modes.
static void Repack(float* rows, int count, int from, int to, int kept)
{
    for (int i = 0; i < count; ++i) {
        int row = to > from ? count - 1 - i : i; // so that none overwrites one that is still to move
        float* own = rows + (size_t)row * (size_t)to;
        memmove(own, rows + (size_t)row * (size_t)from, (size_t)(to > from ? from : to) * sizeof(float));
        memset(own + kept, 0, (size_t)(to - kept) * sizeof(float));
    }
}

// P B c of the samples, which was not worked out of modes that were not in use.
static void FindDrives(jnMorphs* m)
{
    for (int slot = 0; slot < JN_HISTORY && m->asset->componentCount > 0; ++slot) {
        const float* input = m->components[slot];
        m->kernels->multiply(&(jnProductPass){.starts = m->driveStarts,
            .weights = m->modes->drives,
            .blockCount = m->lanes / JN_LANES,
            .groupSize = m->asset->componentCount,
            .inputs = &input,
            .outputs = &m->drives[slot],
            .count = 1});
    }
}

static void UseModes(jnMorphs* m, int modes)
{
    int from = m->lanes, to = LanesOf(modes), kept = modes < m->modeCount ? modes : m->modeCount;
    if (modes == m->modeCount) {
        return;
    }
    Repack(m->now, 4, from, to, kept);
    Repack(m->before, 4, from, to, kept);
    Repack(m->forces, 2, from, to, kept);
    m->level->modes = modes;
    jnMorphs_FollowLevel(m);
    if (to > from) {
        FindDrives(m);
    }
}

// The fades of modes from number 0 on, of components behind them.
static size_t FadeCount(const jnMorphs* m)
{
    return (size_t)LanesOf(m->modeCapacity) + (size_t)m->componentCapacity;
}

static bool IsWanted(const jnMorphs* m, size_t i)
{
    size_t modes = (size_t)LanesOf(m->modeCapacity);
    return i < modes ? i < (size_t)m->level->wantedModes : i - modes < (size_t)m->level->wantedComponents;
}

// How many of `count` fades are in use: those that are wanted, and those up to the last that still shows.
static int CountUsed(const float* fades, int count, int wanted)
{
    while (count > wanted && fades[count - 1] <= 0.0f) {
        count--;
    }
    return count;
}

// What has faded is left out.
static void Drop(jnMorphs* m)
{
    const float* components = m->fades[1] + LanesOf(m->modeCapacity);
    m->level->components = CountUsed(components, m->level->components, m->level->wantedComponents);
    m->componentCount = m->level->components;
    UseModes(m, CountUsed(m->fades[1], m->level->modes, m->level->wantedModes));
}

void jnMorphs_EndFades(jnMorphs* m)
{
    for (size_t i = 0; i < FadeCount(m); ++i) {
        m->fades[0][i] = m->fades[1][i] = IsWanted(m, i) ? 1.0f : 0.0f;
    }
    m->level->fading = 0;
    Drop(m);
}

static int Clamp(int wanted, int capacity)
{
    return wanted > 0 && wanted < capacity ? wanted : capacity;
}

void jnMorphs_SetLevel(jnMorphs* m, int components, int modes, float seconds)
{
    jnMorphLevel* level = m->level;
    level->wantedComponents = Clamp(components, m->componentCapacity);
    level->wantedModes = Clamp(modes, m->modeCapacity);
    level->rate = seconds > 1e-6f && jnIsFinite(seconds) ? 1.0f / seconds : 0.0f;
    level->components = level->wantedComponents > level->components ? level->wantedComponents : level->components;
    UseModes(m, level->wantedModes > m->modeCount ? level->wantedModes : m->modeCount);
    m->componentCount = level->components;
    level->fading = 1;
    if (level->rate == 0.0f) {
        jnMorphs_EndFades(m);
    }
}

void jnMorphs_Fade(jnMorphs* m, double h)
{
    jnMorphLevel* level = m->level;
    if (level->fading == 0) {
        return;
    }
    double step = h * (double)level->rate;
    float change = step < 1.0 ? (float)step : 1.0f;
    bool done = true;
    for (size_t i = 0; i < FadeCount(m); ++i) {
        float from = m->fades[1][i], to = IsWanted(m, i) ? from + change : from - change;
        m->fades[0][i] = from;
        m->fades[1][i] = to < 0.0f ? 0.0f : to > 1.0f ? 1.0f : to;
        done = done && m->fades[1][i] == from;
    }
    if (done) { // and what is shown between the last two steps has faded as well
        jnMorphs_EndFades(m);
    }
}

static float Shown(const jnMorphs* m, size_t i, double fraction)
{
    float from = m->fades[0][i], to = m->fades[1][i], at = fraction < 1.0 ? from + (float)fraction * (to - from) : to;
    return at * at * (3.0f - 2.0f * at);
}

float jnMorphs_ModeFade(const jnMorphs* m, int mode, double fraction)
{
    return Shown(m, (size_t)mode, fraction);
}

float jnMorphs_ComponentFade(const jnMorphs* m, int component, double fraction)
{
    return Shown(m, (size_t)(LanesOf(m->modeCapacity) + component), fraction);
}

bool jnMorphs_LevelIsSane(const jnMorphs* m, const jnMorphLevel* level, const char* fades, size_t count)
{
    int modes = level->modes, components = level->components;
    bool sane = modes >= level->wantedModes && modes <= m->modeCapacity && components >= level->wantedComponents &&
                components <= m->componentCapacity && level->wantedModes >= (m->modeCapacity > 0) &&
                level->wantedComponents >= (m->componentCapacity > 0) && (level->fading == 0 || level->fading == 1) &&
                level->rate >= 0.0f && jnIsFinite(level->rate);
    for (size_t i = 0; sane && i < count; ++i) {
        float fade;
        memcpy(&fade, fades + i * sizeof(fade), sizeof(fade));
        sane = fade >= 0.0f && fade <= 1.0f;
    }
    return sane;
}
