// A frame skinned beside played: what breaks is red in the played panels alone.
#include "draw/preview_picture.h"
#include "helpers/small_surface.h"

enum { PANEL = 64 };

static int CountRed(const jnaPicture* picture, int panel)
{
    int width = picture->width / 4, count = 0;
    for (int y = 0; y < picture->height; ++y) {
        for (int x = panel * width; x < (panel + 1) * width; ++x) {
            const uint8_t* p = picture->pixels + 4 * (y * picture->width + x);
            count += p[0] > 100 && p[1] < p[0] / 2 && p[2] < p[0] / 2;
        }
    }
    return count;
}

static void BreaksAreRedWhereTheyAreShown(void** state)
{
    (void)state;
    jnError error;
    jnaCharacter c = {0};
    AddSphere(&c, 0, 1, 0, 0.5);
    jnaPart part = {.triangleCount = c.triangleCount};
    c.parts = &part;
    c.partCount = 1;
    uint8_t* marks = calloc((size_t)c.triangleCount, 1);
    int vertex = 1 + 5 * SPHERE_SECTORS;
    for (int t = 0; t < c.triangleCount; ++t) {
        const float* p = c.positions + 3 * c.triangles[3 * t];
        marks[t] = p[0] > 0.25f; // the vertex is at +X
    }
    jnaPreview preview = {.character = &c,
        .compared = c.positions,
        .shown = c.positions,
        .marks = marks,
        .vertex = vertex,
        .comparedName = "skinned",
        .caption = "",
        .panelHeight = PANEL};
    jnaPicture picture, tile;
    assert_int_equal(jnaDrawPreview(&preview, &picture, &error), jn_ok);
    assert_int_equal(CountRed(&picture, 0) + CountRed(&picture, 2), 0);
    assert_true(CountRed(&picture, 1) > 20);
    assert_true(CountRed(&picture, 3) > CountRed(&picture, 1));
    assert_int_equal(jnaPreview_Stack(&picture, &tile, &error), jn_ok);
    assert_int_equal(tile.width, 2 * (picture.width / 8));
    assert_int_equal(tile.height, 2 * (picture.height / 2));
    // The second panel, played, is below the first.
    assert_memory_equal(tile.pixels + 4 * (size_t)(tile.height / 2) * (size_t)tile.width,
        picture.pixels + 4 * (size_t)(2 * (tile.width / 2)), 4);
    jnaDestroyPicture(&tile);
    jnaDestroyPicture(&picture);
    free(marks);
    free(c.positions);
    free(c.weld);
    free(c.triangles);
}

static void APictureComesBackFromItsFile(void** state)
{
    (void)state;
    jnError error;
    uint8_t pixels[2 * 3 * 4];
    for (int i = 0; i < (int)sizeof(pixels); ++i) {
        pixels[i] = i % 4 == 3 ? 255 : (uint8_t)(10 * i);
    }
    char path[512];
    snprintf(path, sizeof(path), "%s/read_%ld.png", JN_BINARY_DIR, (long)getpid());
    const jnaPicture written = {2, 3, pixels};
    jnaPicture read;
    assert_int_equal(jnaPicture_Write(&written, path, &error), jn_ok);
    assert_int_equal(jnaReadPicture(path, &read, &error), jn_ok);
    assert_int_equal(read.width, 2);
    assert_int_equal(read.height, 3);
    assert_memory_equal(read.pixels, pixels, sizeof(pixels));
    jnaDestroyPicture(&read);
    unlink(path);
    assert_int_equal(jnaReadPicture(path, &read, &error), jn_ioFailed);
    assert_null(read.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BreaksAreRedWhereTheyAreShown),
        cmocka_unit_test(APictureComesBackFromItsFile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
