// The rotation of amplitudes for JN_LANES characters at once, a lane for each. Part of morph_kernels_body.h.
//
// One character's S is worked on as a matrix of all modes. Most of it is 0, and which numbers are is the same for every
// character of an asset: here only pairs that joints couple are looked at. Each sum runs over the same numbers in the
// same order as one character's and leaves out those that are 0, so both give the same bytes.

// Pairs whose sums fit the registers.
enum { PAIRS_TOGETHER = JN_WIDTH == 16 ? 8 : 4 };

// Number `k` of arrays that were transposed.
static inline float* AcrossAt(float* const arrays[JN_LANES], size_t k)
{
    return arrays[k % JN_LANES] + k / JN_LANES * JN_LANES;
}

#if defined(JN_WIDE_LANES)
static inline void TransposeBlock(float* const arrays[JN_LANES], size_t at)
{
    jnFloats v[JN_LANES];
    JN_UNROLL
    for (int i = 0; i < JN_LANES; ++i) {
        v[i] = jnLoad(arrays[i] + at);
    }
    jnTransposeSquare(v);
    JN_UNROLL
    for (int i = 0; i < JN_LANES; ++i) {
        jnStore(arrays[i] + at, v[i]);
    }
}
#elif defined(JN_VECTORS)
// Four rows of four from `from` on, as columns.
static inline void LoadSquare(float* const from[4], size_t at, jnFour rows[4])
{
    jnFour a = jnLoadFour(from[0] + at), b = jnLoadFour(from[1] + at), c = jnLoadFour(from[2] + at);
    jnFour d = jnLoadFour(from[3] + at), low = jnLowsFour(a, b), lower = jnLowsFour(c, d), high = jnHighsFour(a, b);
    jnFour higher = jnHighsFour(c, d);
    rows[0] = jnEvensFour(low, lower);
    rows[1] = jnOddsFour(low, lower);
    rows[2] = jnEvensFour(high, higher);
    rows[3] = jnOddsFour(high, higher);
}

static inline void TransposeBlock(float* const arrays[JN_LANES], size_t at)
{
    for (size_t i = 0; i < JN_LANES; i += 4) {
        for (size_t k = i; k < JN_LANES; k += 4) {
            jnFour upper[4], lower[4];
            LoadSquare(arrays + i, at + k, upper);
            LoadSquare(arrays + k, at + i, lower);
            for (size_t r = 0; r < 4; ++r) {
                jnStoreFour(arrays[k + r] + at + i, upper[r]);
                jnStoreFour(arrays[i + r] + at + k, lower[r]);
            }
        }
    }
}
#else
static inline void TransposeBlock(float* const arrays[JN_LANES], size_t at)
{
    for (size_t i = 0; i < JN_LANES; ++i) {
        for (size_t k = 0; k < i; ++k) {
            float swap = arrays[i][at + k];
            arrays[i][at + k] = arrays[k][at + i];
            arrays[k][at + i] = swap;
        }
    }
}
#endif

static void Transpose(float* const arrays[JN_LANES], int count)
{
    for (int at = 0; at < count; at += JN_LANES) {
        TransposeBlock(arrays, (size_t)at);
    }
}

// PAIRS_TOGETHER pairs of a block, from number `first` on, of the characters from `lane` on: as MultiplyBlock.
static inline void PairSome(const jnAcrossPass* pass, size_t block, size_t first, size_t lane)
{
    const jnAssetModes* modes = pass->modes;
    jnFloats even[PAIRS_TOGETHER], odd[PAIRS_TOGETHER];
    JN_UNROLL
    for (int i = 0; i < PAIRS_TOGETHER; ++i) {
        even[i] = odd[i] = jnRepeat(0.0f);
    }
    for (size_t e = modes->spinStarts[block]; e < modes->spinStarts[block + 1]; ++e) {
        size_t joint = modes->spinJoints[e];
        const float* x = pass->angles[joint % JN_LANES] + joint / JN_LANES * 3 * JN_LANES + lane;
        const float* weights = modes->spins + e * 3 * JN_LANES + first;
        jnFloats a = jnLoad(x), b = jnLoad(x + JN_LANES), c = jnLoad(x + 2 * JN_LANES);
        JN_UNROLL
        for (int i = 0; i < PAIRS_TOGETHER; ++i) {
            even[i] = jnAdd(even[i], jnScale(weights[i], a));
            odd[i] = jnAdd(odd[i], jnScale(weights[JN_LANES + i], b));
            even[i] = jnAdd(even[i], jnScale(weights[2 * JN_LANES + i], c));
        }
    }
    JN_UNROLL
    for (int i = 0; i < PAIRS_TOGETHER; ++i) {
        jnStore(pass->pairs[first + (size_t)i] + block * JN_LANES + lane, jnAdd(even[i], odd[i]));
    }
}

static void PairAcross(const jnAcrossPass* pass, float norms[JN_LANES])
{
    size_t blocks = (size_t)pass->pairBlocks;
    for (size_t lane = 0; lane < JN_LANES; lane += JN_WIDTH) {
        jnFloats squares[JN_LANES], sum = jnRepeat(0.0f), half = jnRepeat(0.5f);
        for (size_t i = 0; i < JN_LANES; ++i) {
            squares[i] = sum;
        }
        for (size_t b = 0; b < blocks; ++b) {
            for (size_t first = 0; first < JN_LANES; first += PAIRS_TOGETHER) {
                PairSome(pass, b, first, lane);
            }
            for (size_t i = 0; i < JN_LANES; ++i) {
                float* at = pass->pairs[i] + b * JN_LANES + lane;
                jnFloats pair = jnLoad(at);
                squares[i] = jnAdd(squares[i], jnMul(pair, pair));
                jnStore(at, jnMul(half, pair));
            }
        }
        for (size_t i = 0; i < JN_LANES; ++i) {
            sum = jnAdd(sum, squares[i]);
        }
        jnStore(norms + lane, jnMul(half, jnSqrt(sum)));
    }
}

static void BoundAcross(const jnAcrossPass* pass, float bounds[JN_LANES])
{
    for (size_t lane = 0; lane < JN_LANES; lane += JN_WIDTH) {
        const jnAcrossPair *pair = pass->order, *end = pair + pass->pairCount;
        jnFloats largest = jnRepeat(0.0f);
        for (size_t k = 0; k < (size_t)pass->modeCount; ++k) {
            jnFloats sum = jnRepeat(0.0f);
            for (; pair < end && pair->larger == k; ++pair) {
                float* other = AcrossAt(pass->work, pair->smaller) + lane;
                jnFloats size = jnSize(jnLoad(AcrossAt(pass->pairs, pair->number) + lane));
                sum = jnAdd(sum, size);
                jnStore(other, jnAdd(jnLoad(other), size));
            }
            jnStore(AcrossAt(pass->work, k) + lane, sum);
        }
        for (size_t k = 0; k < (size_t)pass->modeCount; ++k) {
            largest = jnMaximum(jnLoad(AcrossAt(pass->work, k) + lane), largest);
        }
        jnStore(bounds + lane, largest);
    }
}

// Where the numbers of each mode are, of the characters from a lane on.
typedef struct Places {
    float* at[JN_ACROSS_MODES];
} Places;

static inline void FindPlaces(float* const arrays[JN_LANES], int count, size_t offset, Places* places)
{
    for (size_t k = 0; k < (size_t)count; ++k) {
        places->at[k] = AcrossAt(arrays, k) + offset;
    }
}

// to = S from of `rows` rows, a constant wherever this is called, that are `step` floats apart.
static inline void ApplyPairs(
    const jnAcrossPass* pass, const Places* from, const Places* to, size_t step, int rows, size_t lane)
{
    const jnAcrossPair *pair = pass->order, *end = pair + pass->pairCount;
    for (size_t k = 0; k < (size_t)pass->modeCount; ++k) {
        const float* x = from->at[k];
        float* out = to->at[k];
        jnFloats first = jnLoad(x), second = rows > 1 ? jnLoad(x + step) : first;
        jnFloats sums[2] = {jnRepeat(0.0f), jnRepeat(0.0f)};
        for (; pair < end && pair->larger == k; ++pair) {
            const float* other = from->at[pair->smaller];
            float* back = to->at[pair->smaller];
            jnFloats s = jnLoad(AcrossAt(pass->pairs, pair->number) + lane);
            sums[0] = jnAdd(sums[0], jnMul(jnLoad(other), s));
            jnStore(back, jnSub(jnLoad(back), jnMul(first, s)));
            if (rows > 1) {
                sums[1] = jnAdd(sums[1], jnMul(jnLoad(other + step), s));
                jnStore(back + step, jnSub(jnLoad(back + step), jnMul(second, s)));
            }
        }
        jnStore(out, sums[0]);
        if (rows > 1) {
            jnStore(out + step, sums[1]);
        }
    }
}

static void ApplyAcross(const jnAcrossPass* pass)
{
    for (size_t lane = 0; lane < JN_LANES; lane += JN_WIDTH) {
        Places from, to;
        FindPlaces(pass->states, pass->modeCount, lane, &from);
        FindPlaces(pass->drags, pass->lanes, lane, &to);
        ApplyPairs(pass, &from, &to, 0, 1, lane);
        for (int k = pass->modeCount; k < pass->lanes; ++k) {
            jnStore(to.at[k], jnRepeat(0.0f));
        }
    }
}

// A term of a rotation to the states, of those whose rotation has it; the term itself stays in `to`.
static inline void AddTerm(
    const jnAcrossPass* pass, int part, int term, const Places* states, const Places* to, size_t lane)
{
    jnFloats scale = jnLoad(pass->scales[term] + lane), parts = jnLoad(pass->parts + lane);
    jnFloats terms = jnLoad(pass->terms + lane), nextPart = jnRepeat((float)(part + 1));
    jnFloats nextTerm = jnRepeat((float)(term + 1));
    for (int k = 0; k < pass->modeCount; ++k) {
        for (int row = 0; row <= pass->lanes; row += pass->lanes) {
            float *at = to->at[k] + row, *x = states->at[k] + row;
            jnFloats added = jnMul(scale, jnLoad(at)), before = jnLoad(x), after = jnAdd(before, added);
            jnStore(at, added);
            jnStore(x, jnSelectAtLeast(parts, nextPart, jnSelectAtLeast(terms, nextTerm, after, before), before));
        }
    }
}

static void TurnAcross(const jnAcrossPass* pass)
{
    size_t step = (size_t)pass->lanes;
    for (size_t lane = 0; lane < JN_LANES; lane += JN_WIDTH) {
        Places states, works[2];
        FindPlaces(pass->states, pass->modeCount, lane, &states);
        FindPlaces(pass->work, pass->modeCount, lane, &works[0]);
        FindPlaces(pass->work, pass->modeCount, lane + 2 * step, &works[1]);
        for (int part = 0; part < pass->mostParts; ++part) {
            const Places* from = &states;
            for (int n = 0; n < pass->mostTerms; ++n) {
                const Places* to = &works[n % 2];
                ApplyPairs(pass, from, to, step, 2, lane);
                AddTerm(pass, part, n, &states, to, lane);
                from = to;
            }
        }
    }
}
