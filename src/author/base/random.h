// Random bits that are the same everywhere: splitmix64 (Steele, Lea and Flood 2014).
#pragma once

#include <stdint.h>

/// Spreads the bits of a number over all of it.
static inline uint64_t jnaMixBits(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// The next 64 bits of a sequence; its state may start as any number.
static inline uint64_t jnaNextBits(uint64_t* state)
{
    return jnaMixBits(*state += 0x9e3779b97f4a7c15u);
}
