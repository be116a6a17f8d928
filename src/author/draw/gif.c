// A moving picture as a GIF: one palette for all frames by median cut, and of each frame only the pixels that changed.
#include "draw/gif.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum {
    BITS = 6, // of each channel, in which colours are counted
    BINS = 1 << (3 * BITS),
    COLOURS = 255,     // of the palette; one more means "as before"
    CLEAR = 256,       // codes of LZW
    MOST_CODES = 4096, // of twelve bits
    TABLE = 1 << 14,   // of the hash of strings, four times as many as there can be
};

// A box of colours that one entry of the palette stands for.
typedef struct Box {
    int low[3], high[3]; // of bins, inclusive
    int64_t count;       // of pixels
} Box;

typedef struct Palette {
    uint8_t colours[COLOURS + 1][3];
    int count;
    uint8_t* nearest; // [BINS]
} Palette;

static int BinOf(const uint8_t* rgb)
{
    return (rgb[0] >> (8 - BITS)) << (2 * BITS) | (rgb[1] >> (8 - BITS)) << BITS | rgb[2] >> (8 - BITS);
}

static int BinAt(const int* c)
{
    return c[0] << (2 * BITS) | c[1] << BITS | c[2];
}

// Draws a box together around the pixels in it, and counts them.
static void Shrink(const int64_t* counts, Box* box)
{
    Box tight = {{BINS, BINS, BINS}, {-1, -1, -1}, 0};
    int c[3];
    for (c[0] = box->low[0]; c[0] <= box->high[0]; ++c[0]) {
        for (c[1] = box->low[1]; c[1] <= box->high[1]; ++c[1]) {
            for (c[2] = box->low[2]; c[2] <= box->high[2]; ++c[2]) {
                int64_t count = counts[BinAt(c)];
                for (int k = 0; count > 0 && k < 3; ++k) {
                    tight.low[k] = c[k] < tight.low[k] ? c[k] : tight.low[k];
                    tight.high[k] = c[k] > tight.high[k] ? c[k] : tight.high[k];
                }
                tight.count += count;
            }
        }
    }
    *box = tight;
}

static int LongestAxis(const Box* box)
{
    int longest = 0;
    for (int k = 1; k < 3; ++k) {
        longest = box->high[k] - box->low[k] > box->high[longest] - box->low[longest] ? k : longest;
    }
    return longest;
}

// Cuts a box where half of its pixels are on either side. It is longer than one bin along `axis`.
static void Cut(const int64_t* counts, int axis, Box* box, Box* other)
{
    int64_t before = 0;
    int at = box->low[axis];
    for (; at < box->high[axis] - 1; ++at) {
        Box slice = *box;
        slice.low[axis] = slice.high[axis] = at;
        Shrink(counts, &slice);
        before += slice.count;
        if (2 * before >= box->count) {
            break;
        }
    }
    *other = *box;
    box->high[axis] = at;
    other->low[axis] = at + 1;
    Shrink(counts, box);
    Shrink(counts, other);
}

// The box whose cut does most: many pixels, far apart. -1: all are one bin.
static int WorstBox(const Box* boxes, int count)
{
    int worst = -1;
    double most = 0;
    for (int i = 0; i < count; ++i) {
        int axis = LongestAxis(&boxes[i]), length = boxes[i].high[axis] - boxes[i].low[axis];
        double weight = sqrt((double)boxes[i].count) * length;
        worst = weight > most ? i : worst;
        most = fmax(weight, most);
    }
    return worst;
}

// The mean colour of a box's bins, by their pixels.
static void Average(const int64_t* counts, const Box* box, uint8_t rgb[3])
{
    double sum[3] = {0};
    int c[3];
    for (c[0] = box->low[0]; c[0] <= box->high[0]; ++c[0]) {
        for (c[1] = box->low[1]; c[1] <= box->high[1]; ++c[1]) {
            for (c[2] = box->low[2]; c[2] <= box->high[2]; ++c[2]) {
                for (int k = 0; k < 3; ++k) {
                    sum[k] += (c[k] + 0.5) * (double)counts[BinAt(c)];
                }
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        rgb[k] = (uint8_t)(sum[k] / (double)box->count * (1 << (8 - BITS)));
    }
}

static uint8_t Nearest(const Palette* palette, int bin)
{
    const int mask = (1 << BITS) - 1, half = 1 << (7 - BITS);
    int c[3] = {bin >> (2 * BITS), bin >> BITS & mask, bin & mask}, best = 0, least = INT32_MAX;
    for (int i = 0; i < palette->count; ++i) {
        int distance = 0;
        for (int k = 0; k < 3; ++k) {
            int d = (c[k] << (8 - BITS)) + half - palette->colours[i][k];
            distance += d * d;
        }
        best = distance < least ? i : best;
        least = distance < least ? distance : least;
    }
    return (uint8_t)best;
}

static jnResult MakePalette(const jnaPicture* frames, int count, jnaArena* arena, Palette* palette, jnError* error)
{
    int64_t* counts = jnaArena_Take(arena, BINS, sizeof(*counts));
    palette->nearest = jnaArena_Take(arena, BINS, 1);
    JN_PASS(jnaArena_Check(arena, "the colours of an animation", error));
    size_t pixels = (size_t)frames[0].width * (size_t)frames[0].height;
    for (int i = 0; i < count; ++i) {
        for (size_t p = 0; p < pixels; ++p) {
            ++counts[BinOf(frames[i].pixels + 4 * p)];
        }
    }
    const int last = (1 << BITS) - 1;
    Box boxes[COLOURS] = {{{0, 0, 0}, {last, last, last}, 0}};
    Shrink(counts, &boxes[0]);
    for (palette->count = 1; palette->count < COLOURS; ++palette->count) {
        int worst = WorstBox(boxes, palette->count);
        if (worst < 0) {
            break;
        }
        Cut(counts, LongestAxis(&boxes[worst]), &boxes[worst], &boxes[palette->count]);
    }
    for (int i = 0; i < palette->count; ++i) {
        Average(counts, &boxes[i], palette->colours[i]);
    }
    for (int bin = 0; bin < BINS; ++bin) {
        palette->nearest[bin] = counts[bin] > 0 ? Nearest(palette, bin) : 0;
    }
    return jn_ok;
}

// Codes of growing width, in blocks of at most 255 bytes.
typedef struct Packer {
    FILE* out;
    uint32_t bits;
    int bitCount, blockSize;
    uint8_t block[255];
} Packer;

static void PutByte(Packer* packer, uint8_t byte)
{
    packer->block[packer->blockSize++] = byte;
    if (packer->blockSize == 255) {
        fputc(255, packer->out);
        fwrite(packer->block, 1, 255, packer->out);
        packer->blockSize = 0;
    }
}

static void PutCode(Packer* packer, int code, int width)
{
    packer->bits |= (uint32_t)code << packer->bitCount;
    for (packer->bitCount += width; packer->bitCount >= 8; packer->bitCount -= 8) {
        PutByte(packer, (uint8_t)packer->bits);
        packer->bits >>= 8;
    }
}

static void Flush(Packer* packer)
{
    if (packer->bitCount > 0) {
        PutByte(packer, (uint8_t)packer->bits);
    }
    fputc(packer->blockSize, packer->out);
    fwrite(packer->block, 1, (size_t)packer->blockSize, packer->out);
    if (packer->blockSize > 0) {
        fputc(0, packer->out);
    }
}

// LZW as GIF has it: after 4,096 strings the table begins again.
static void Compress(FILE* out, const uint8_t* indices, size_t count, int32_t* keys, int16_t* codes)
{
    Packer packer = {.out = out};
    int width = 9, next = CLEAR + 2, prefix = indices[0];
    fputc(8, out);
    memset(keys, 0xff, TABLE * sizeof(*keys));
    PutCode(&packer, CLEAR, width);
    for (size_t i = 1; i < count; ++i) {
        int32_t key = prefix << 8 | indices[i];
        uint32_t slot = ((uint32_t)key * 2654435761u) >> 18;
        while (keys[slot] != key && keys[slot] >= 0) {
            slot = (slot + 1) % TABLE;
        }
        if (keys[slot] == key) {
            prefix = codes[slot];
            continue;
        }
        PutCode(&packer, prefix, width);
        prefix = indices[i];
        if (next == MOST_CODES) {
            PutCode(&packer, CLEAR, width);
            memset(keys, 0xff, TABLE * sizeof(*keys));
            width = 9;
            next = CLEAR + 2;
            continue;
        }
        keys[slot] = key;
        codes[slot] = (int16_t)next;
        width += next == 1 << width ? 1 : 0;
        ++next;
    }
    PutCode(&packer, prefix, width);
    width += next == 1 << width && width < 12 ? 1 : 0;
    PutCode(&packer, CLEAR + 1, width);
    Flush(&packer);
}

static void PutShort(FILE* out, int value)
{
    fputc(value & 255, out);
    fputc(value >> 8, out);
}

static void PutHead(FILE* out, const jnaPicture* first, const Palette* palette)
{
    fputs("GIF89a", out);
    PutShort(out, first->width);
    PutShort(out, first->height);
    fwrite("\xf7\0\0", 1, 3, out); // a palette of 256 colours
    fwrite(palette->colours, 1, sizeof(palette->colours), out);
    fwrite("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 1, 19, out); // for ever
}

static void PutFrameHead(FILE* out, const jnaPicture* frame, int hundredths)
{
    fwrite("\x21\xf9\x04\x05", 1, 4, out); // stays under the next one; has a colour that means "as before"
    PutShort(out, hundredths);
    fputc(COLOURS, out);
    fputc(0, out);
    fputc(0x2c, out);
    PutShort(out, 0);
    PutShort(out, 0);
    PutShort(out, frame->width);
    PutShort(out, frame->height);
    fputc(0, out);
}

static jnResult WriteFrames(const jnaPicture* frames, int count, double rate, FILE* out, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Palette palette = {0};
    size_t pixels = (size_t)frames[0].width * (size_t)frames[0].height;
    uint8_t* before = jnaArena_Take(&arena, (int64_t)pixels, 1);
    uint8_t* indices = jnaArena_Take(&arena, (int64_t)pixels, 1);
    int32_t* keys = jnaArena_Take(&arena, TABLE, sizeof(*keys));
    int16_t* codes = jnaArena_Take(&arena, TABLE, sizeof(*codes));
    JN_TRY(jnaArena_Check(&arena, "an animation", error));
    JN_TRY(MakePalette(frames, count, &arena, &palette, error));
    PutHead(out, &frames[0], &palette);
    int shown = 0;
    for (int i = 0; i < count; ++i) {
        for (size_t p = 0; p < pixels; ++p) {
            uint8_t index = palette.nearest[BinOf(frames[i].pixels + 4 * p)];
            indices[p] = i > 0 && index == before[p] ? COLOURS : index;
            before[p] = index;
        }
        // Hundredths of a second do not divide 30 frames: what a frame loses the next one gets.
        int until = (int)lround((i + 1) * 100 / rate);
        PutFrameHead(out, &frames[i], until - shown);
        shown = until;
        Compress(out, indices, pixels, keys, codes);
    }
    fputc(0x3b, out);
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaWriteGif(const jnaPicture* frames, int count, double rate, const char* path, jnError* error)
{
    if (count < 1 || !(rate > 0 && rate <= 100)) {
        return jnFail(error, jn_badArgument, "%s: a GIF has at least one frame and at most 100 a second", path);
    }
    for (int i = 0; i < count; ++i) {
        if (frames[i].width != frames[0].width || frames[i].height != frames[0].height || frames[i].width < 1 ||
            frames[i].width > UINT16_MAX || frames[i].height < 1 || frames[i].height > UINT16_MAX) {
            return jnFail(error, jn_badArgument,
                "%s: frame %d of a GIF is %d x %d pixels, the first %d x %d; at most %d", path, i, frames[i].width,
                frames[i].height, frames[0].width, frames[0].height, UINT16_MAX);
        }
    }
    jnaFile file;
    JN_PASS(jnaCreateFile(path, &file, error));
    jnResult result = WriteFrames(frames, count, rate, file.stream, error);
    if (result != jn_ok) {
        jnaFile_Abandon(&file);
        return result;
    }
    return jnaFile_Commit(&file, error);
}
