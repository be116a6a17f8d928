// Registers of 128 bits: a jnFloats is one group of four. Part of lanes.h.
#pragma once

enum { JN_WIDTH = 4, JN_DOUBLE_WIDTH = 2, JN_SHORTS_WIDTH = 8 };
typedef jnFour jnFloats;

#define jnRepeat jnRepeatInFour
#define jnLoad jnLoadFour
#define jnStore jnStoreFour
#define jnAdd jnAddFour
#define jnSub jnSubFour
#define jnMul jnMulFour
#define jnDiv jnDivFour
#define jnSqrt jnSqrtFour
#define jnSize jnSizeFour
#define jnMaximum jnMaximumFour
#define jnEvens jnEvensFour
#define jnOdds jnOddsFour
#define jnLows jnLowsFour
#define jnHighs jnHighsFour
#define jnRepeatFour jnLoadFour
#define jnJoinFours(v) ((v)[0])
#define JN_GROUP(values, g) (values)
