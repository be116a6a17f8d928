// The triangular solves of preconditioner.h, with three right-hand sides at once. Compiled once per instruction set,
// without contraction to fused operations, so that all give the same bytes: a vector of eight is two nodes, or two
// columns of one row, and no sum changes its order.
#include "flesh/preconditioner.h"

#include <string.h>

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));

static inline Float4 Load4(const float* from)
{
    Float4 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline Float8 Load8(const float* from)
{
    Float8 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void Store4(float* to, Float4 v)
{
    memcpy(to, &v, sizeof(v));
}

static inline void Store8(float* to, Float8 v)
{
    memcpy(to, &v, sizeof(v));
}

static inline Float8 Twice(Float4 v)
{
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3);
}

// Four times the first of two numbers, then four times the second.
static inline Float8 Spread(const float* pair)
{
    typedef double Double4 __attribute__((vector_size(32)));
    double both;
    memcpy(&both, pair, sizeof(both));
    Float8 v = (Float8)(Double4){both, both, both, both};
    return __builtin_shufflevector(v, v, 0, 0, 0, 0, 5, 5, 5, 5);
}

// The triangle of a panel forward: every column scaled, then taken from those behind it.
static inline const float* SolveTriangle(const float* entry, int width, float* own)
{
    for (int c = 0; c < width; ++c) {
        Float4 value = Load4(own + 4 * c) * *entry++;
        Store4(own + 4 * c, value);
        int r = c + 1;
        for (; r + 2 <= width; r += 2, entry += 2) {
            Store8(own + 4 * r, Load8(own + 4 * r) - Twice(value) * Spread(entry));
        }
        if (r < width) {
            Store4(own + 4 * r, Load4(own + 4 * r) - value * *entry++);
        }
    }
    return entry;
}

static inline void SolveForward(const jnaPreconditioner* p, const jnaPanel* panel, float* x)
{
    float* own = x + 4 * (size_t)panel->first;
    const float* entry = SolveTriangle(p->entries + panel->entries, panel->width, own);
    const int32_t* rows = p->rows + panel->rows;
    for (int g = 0; g < panel->groups; ++g, rows += JNA_PANEL_GROUP) {
        float* to[JNA_PANEL_GROUP];
        for (int i = 0; i < JNA_PANEL_GROUP; ++i) {
            to[i] = x + 4 * (size_t)rows[i];
        }
        Float8 ab = __builtin_shufflevector(Load4(to[0]), Load4(to[1]), 0, 1, 2, 3, 4, 5, 6, 7);
        Float8 cd = __builtin_shufflevector(Load4(to[2]), Load4(to[3]), 0, 1, 2, 3, 4, 5, 6, 7);
        for (int i = 0; i < panel->width; ++i, entry += JNA_PANEL_GROUP) {
            Float8 value = Twice(Load4(own + 4 * i));
            ab -= value * Spread(entry);
            cd -= value * Spread(entry + 2);
        }
        Store4(to[0], __builtin_shufflevector(ab, ab, 0, 1, 2, 3));
        Store4(to[1], __builtin_shufflevector(ab, ab, 4, 5, 6, 7));
        Store4(to[2], __builtin_shufflevector(cd, cd, 0, 1, 2, 3));
        Store4(to[3], __builtin_shufflevector(cd, cd, 4, 5, 6, 7));
    }
}

static inline void SolveBackward(const jnaPreconditioner* p, const jnaPanel* panel, float* x)
{
    float* own = x + 4 * (size_t)panel->first;
    int width = panel->width, triangle = width * (width + 1) / 2;
    const float* entry = p->entries + panel->entries + triangle;
    const int32_t* rows = p->rows + panel->rows;
    for (int g = 0; g < panel->groups; ++g, rows += JNA_PANEL_GROUP) {
        Float4 a = Load4(x + 4 * (size_t)rows[0]), b = Load4(x + 4 * (size_t)rows[1]);
        Float4 c = Load4(x + 4 * (size_t)rows[2]), d = Load4(x + 4 * (size_t)rows[3]);
        Float8 aa = Twice(a), bb = Twice(b), cc = Twice(c), dd = Twice(d);
        int i = 0;
        for (; i + 2 <= width; i += 2, entry += 2 * JNA_PANEL_GROUP) { // two columns at once
            Float8 e = Load8(entry);
            Float8 sum = (aa * __builtin_shufflevector(e, e, 0, 0, 0, 0, 4, 4, 4, 4) +
                             bb * __builtin_shufflevector(e, e, 1, 1, 1, 1, 5, 5, 5, 5)) +
                         (cc * __builtin_shufflevector(e, e, 2, 2, 2, 2, 6, 6, 6, 6) +
                             dd * __builtin_shufflevector(e, e, 3, 3, 3, 3, 7, 7, 7, 7));
            Store8(own + 4 * i, Load8(own + 4 * i) - sum);
        }
        if (i < width) {
            Float4 sum = (a * entry[0] + b * entry[1]) + (c * entry[2] + d * entry[3]);
            Store4(own + 4 * i, Load4(own + 4 * i) - sum);
            entry += JNA_PANEL_GROUP;
        }
    }
    const float* column = p->entries + panel->entries + triangle;
    for (int c = width - 1; c >= 0; --c) {
        column -= width - c;
        Float4 value = Load4(own + 4 * c);
        for (int r = c + 1; r < width; ++r) {
            value -= Load4(own + 4 * r) * column[r - c];
        }
        Store4(own + 4 * c, value * column[0]);
    }
}

static inline void SolvePanels(const jnaPreconditioner* p, float* x)
{
    for (int i = 0; i < p->panelCount; ++i) {
        SolveForward(p, &p->panels[i], x);
    }
    for (int i = p->panelCount - 1; i >= 0; --i) {
        SolveBackward(p, &p->panels[i], x);
    }
}
