// Animations: what a decoder of GIF reads back is what was drawn.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "draw/gif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { WIDTH = 61, HEIGHT = 47, FRAMES = 4, SIZE = WIDTH * HEIGHT };

static uint8_t drawn[FRAMES][SIZE][4];

// Noise of so many colours, so that the table of strings is full more than once, with a patch that stays.
static void DrawNoise(int colours, jnaPicture* frames)
{
    uint32_t random = 1;
    for (int f = 0; f < FRAMES; ++f) {
        for (int p = 0; p < SIZE; ++p) {
            random = random * 1664525u + 1013904223u;
            int c = p < SIZE / 4 ? 3 : (int)((random >> 10) % (uint32_t)colours);
            // Channels in the middle of a bin of six bits, so that nothing is rounded.
            drawn[f][p][0] = (uint8_t)(4 * (c % 8) * 8 + 2);
            drawn[f][p][1] = (uint8_t)(4 * (c / 8 % 8) * 8 + 2);
            drawn[f][p][2] = (uint8_t)(4 * (c / 64) * 8 + 2);
            drawn[f][p][3] = 255;
        }
        frames[f] = (jnaPicture){WIDTH, HEIGHT, drawn[f][0]};
    }
}

#define FOLDER JN_BINARY_DIR "/"

static size_t ReadBytes(const char* path, uint8_t* bytes, size_t most)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, most, file);
    fclose(file);
    unlink(path);
    return size;
}

// The bytes of a frame's blocks, one after the other. Returns where the frame ends.
static const uint8_t* JoinBlocks(const uint8_t* at, uint8_t* data, size_t* size)
{
    for (*size = 0; *at != 0; at += 1 + *at) {
        memcpy(data + *size, at + 1, *at);
        *size += *at;
    }
    return at + 1;
}

// LZW, written from the specification: codes of nine bits and more, 256 clears, 257 ends.
static int Decode(const uint8_t* data, size_t size, uint8_t* indices, int most)
{
    static int prefixes[4096], lengths[4096];
    static uint8_t lasts[4096];
    int width = 9, next = 258, before = -1, count = 0;
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < size;) {
        for (; held < width && i < size; held += 8) {
            bits |= (uint32_t)data[i++] << held;
        }
        int code = (int)(bits & ((1u << width) - 1));
        bits >>= width;
        held -= width;
        if (code == 257) {
            return count;
        }
        if (code == 256) {
            width = 9;
            next = 258;
            before = -1;
            continue;
        }
        assert_true(code < next || (code == next && before >= 0));
        int source = code < next ? code : before, length = source < 256 ? 1 : lengths[source], whole = length;
        whole += code == next ? 1 : 0;
        assert_true(count + whole <= most);
        for (int k = length - 1, from = source; k >= 0; --k) {
            indices[count + k] = from < 256 ? (uint8_t)from : lasts[from];
            from = from < 256 ? from : prefixes[from];
        }
        if (code == next) {
            indices[count + length] = indices[count];
        }
        if (before >= 0 && next < 4096) {
            prefixes[next] = before;
            lasts[next] = indices[count];
            lengths[next] = (before < 256 ? 1 : lengths[before]) + 1;
            width += ++next == 1 << width && width < 12 ? 1 : 0;
        }
        count += whole;
        before = code;
    }
    return count;
}

static void FramesComeBackAsTheyWereDrawn(void** state)
{
    (void)state;
    jnaPicture frames[FRAMES];
    static uint8_t bytes[200000], data[200000], indices[SIZE], shown[SIZE][3];
    DrawNoise(200, frames);
    jnError error = {0};
    assert_int_equal(jnaWriteGif(frames, FRAMES, 30, FOLDER "noise.gif", &error), jn_ok);
    size_t size = ReadBytes(FOLDER "noise.gif", bytes, sizeof(bytes));
    assert_memory_equal(bytes, "GIF89a", 6);
    const uint8_t *palette = bytes + 13, *at = palette + 768 + 19;
    int hundredths = 0;
    for (int f = 0; f < FRAMES; ++f) {
        size_t length;
        assert_memory_equal(at, "\x21\xf9\x04\x05", 4);
        hundredths += at[4] | at[5] << 8;
        assert_int_equal(at[8], 0x2c);
        assert_int_equal(at[18], 8);
        at = JoinBlocks(at + 19, data, &length);
        assert_int_equal(Decode(data, length, indices, SIZE), SIZE);
        for (int p = 0; p < SIZE; ++p) {
            if (indices[p] != 255) {
                memcpy(shown[p], palette + 3 * indices[p], 3);
            }
            assert_memory_equal(shown[p], drawn[f][p], 3);
        }
    }
    assert_int_equal(*at, 0x3b);
    assert_int_equal(at + 1 - bytes, size);
    assert_int_equal(hundredths, 13); // four thirtieths of a second
}

static void MoreColoursThanThereIsRoomForComeOutNearby(void** state)
{
    (void)state;
    jnaPicture frames[FRAMES];
    static uint8_t bytes[200000], data[200000], indices[SIZE];
    DrawNoise(512, frames);
    jnError error = {0};
    assert_int_equal(jnaWriteGif(frames, 1, 30, FOLDER "many.gif", &error), jn_ok);
    (void)ReadBytes(FOLDER "many.gif", bytes, sizeof(bytes));
    size_t length;
    (void)JoinBlocks(bytes + 13 + 768 + 19 + 19, data, &length);
    assert_int_equal(Decode(data, length, indices, SIZE), SIZE);
    for (int p = 0; p < SIZE; ++p) {
        for (int k = 0; k < 3; ++k) {
            assert_true(abs(bytes[13 + 3 * indices[p] + k] - drawn[0][p][k]) <= 32);
        }
    }
}

static void WrongFramesAreRefusedInWords(void** state)
{
    (void)state;
    jnaPicture frames[FRAMES];
    DrawNoise(8, frames);
    jnError error = {0};
    frames[2].width = 5;
    assert_int_equal(jnaWriteGif(frames, FRAMES, 30, FOLDER "bad.gif", &error), jn_badArgument);
    assert_non_null(strstr(error.message, "frame 2"));
    assert_int_equal(jnaWriteGif(frames, 0, 30, FOLDER "bad.gif", &error), jn_badArgument);
    assert_int_equal(jnaWriteGif(frames, 1, 0, FOLDER "bad.gif", &error), jn_badArgument);
    assert_int_equal(jnaWriteGif(frames, 1, 30, FOLDER "none/bad.gif", &error), jn_ioFailed);
    assert_int_not_equal(access(FOLDER "bad.gif", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(FramesComeBackAsTheyWereDrawn),
        cmocka_unit_test(MoreColoursThanThereIsRoomForComeOutNearby),
        cmocka_unit_test(WrongFramesAreRefusedInWords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
