// Boxes on a grid of 32768 steps a side: three coordinates of 15 bits in the fields of one word, so that one
// subtraction compares all three.
//
// Rounding down keeps the order of coordinates, so a box of rounded corners holds every rounded point of what it was
// made of: tests on the grid never lose anything. The highest bit of each field is free; set before a subtraction, it
// is still set after it where nothing had to be borrowed.
#pragma once

#include "jounce/base.h"

#include <stdint.h>

#define JNA_CELL_FREE 0x800080008000u
enum { JNA_CELL_STEPS = 32768 };

typedef struct jnaCellBox {
    uint64_t low, high;
} jnaCellBox;

/// origin, scale: of the grid. Points outside come to its border.
static inline uint64_t jnaCellOf(const double* p, const double origin[3], double scale)
{
    uint64_t cell = 0;
    for (int i = 0; i < 3; ++i) {
        double x = (p[i] - origin[i]) * scale;
        x = x > 0 ? x : 0;
        cell |= (uint64_t)(x < JNA_CELL_STEPS - 1 ? x : JNA_CELL_STEPS - 1) << (16 * i);
    }
    return cell;
}

/// All bits of each field where a <= b.
static inline uint64_t jnaCellOrder(uint64_t a, uint64_t b)
{
    uint64_t order = ((b | JNA_CELL_FREE) - a) & JNA_CELL_FREE;
    return order - (order >> 15);
}

static inline void jnaCellBox_Add(jnaCellBox* box, uint64_t low, uint64_t high)
{
    uint64_t least = jnaCellOrder(box->low, low), most = jnaCellOrder(box->high, high);
    box->low = (box->low & least) | (low & ~least);
    box->high = (high & most) | (box->high & ~most);
}

static inline int jnaCellBox_Meet(jnaCellBox a, jnaCellBox b)
{
    return (((b.high | JNA_CELL_FREE) - a.low) & ((a.high | JNA_CELL_FREE) - b.low) & JNA_CELL_FREE) == JNA_CELL_FREE;
}
