// The renderer: what a known scene must look like, and that nothing depends on threads or a full disk.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "draw/picture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// A right triangle in the plane z = depth, legs of one metre along x and y, its square corner at (-0.5,
// -0.5).
static const int32_t corners[3] = {0, 1, 2};

static void FillTriangle(float depth, float positions[9])
{
    const float points[9] = {-0.5f, -0.5f, depth, 0.5f, -0.5f, depth, -0.5f, 0.5f, depth};
    memcpy(positions, points, sizeof(points));
}

static jnaPictureMesh MakeMesh(const float* positions, float red, float green, float blue)
{
    return (jnaPictureMesh){
        .positions = positions,
        .vertexCount = 3,
        .triangles = corners,
        .triangleCount = 1,
        .color = {red, green, blue},
    };
}

// 100 x 100 pixels that show two metres: 50 pixels a metre, the origin in the middle.
static jnaPictureDef MakeDef(void)
{
    jnaPictureDef def = jnaDefaultPictureDef();
    def.panelWidth = def.panelHeight = 100;
    def.samples = 1;
    def.ground = false;
    def.camera = (jnaCamera){.height = 2};
    return def;
}

static const uint8_t* PixelAt(const jnaPicture* picture, int x, int y)
{
    return picture->pixels + 4 * (y * picture->width + x);
}

static bool IsRed(const uint8_t* pixel)
{
    return pixel[0] > pixel[1] + 40;
}

static int CountRed(const jnaPicture* picture)
{
    int count = 0;
    for (int i = 0; i < picture->width * picture->height; ++i) {
        count += IsRed(picture->pixels + 4 * i);
    }
    return count;
}

static jnaPicture Draw(const jnaPictureDef* def, const jnaPictureMesh* meshes, int count)
{
    jnaPicture picture;
    jnError error = {0};
    if (jnaDrawPicture(def, meshes, count, &picture, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return picture;
}

static void ATriangleCoversThePixelsItShould(void** state)
{
    (void)state;
    float positions[9];
    FillTriangle(0, positions);
    jnaPictureMesh mesh = MakeMesh(positions, 0.8f, 0.02f, 0.02f);
    jnaPictureDef def = MakeDef();
    jnaPicture picture = Draw(&def, &mesh, 1);
    // The corner at (-0.5, -0.5) is pixel (25, 75) from the top left.
    assert_true(IsRed(PixelAt(&picture, 26, 73)));
    assert_true(IsRed(PixelAt(&picture, 26, 28)));
    assert_true(IsRed(PixelAt(&picture, 71, 73)));
    assert_false(IsRed(PixelAt(&picture, 24, 73)));
    assert_false(IsRed(PixelAt(&picture, 26, 76)));
    assert_false(IsRed(PixelAt(&picture, 52, 48)));
    // Half a square metre at 2500 pixels a square metre, give or take the slanted side.
    assert_in_range(CountRed(&picture), 1250 - 26, 1250 + 26);
    jnaDestroyPicture(&picture);
}

static void TheNearerSurfaceWinsInEitherOrder(void** state)
{
    (void)state;
    float front[9], back[9];
    FillTriangle(0.2f, front);
    FillTriangle(-0.2f, back);
    for (int order = 0; order < 2; ++order) {
        for (int perspective = 0; perspective < 2; ++perspective) {
            jnaPictureMesh meshes[2];
            meshes[order] = MakeMesh(front, 0.8f, 0.02f, 0.02f);
            meshes[1 - order] = MakeMesh(back, 0.02f, 0.8f, 0.02f);
            jnaPictureDef def = MakeDef();
            def.camera.fieldOfView = perspective != 0 ? 30 : 0;
            jnaPicture picture = Draw(&def, meshes, 2);
            assert_true(IsRed(PixelAt(&picture, 35, 65)));
            jnaDestroyPicture(&picture);
        }
    }
}

static void PerspectiveMakesTheNearerLarger(void** state)
{
    (void)state;
    int covered[2];
    for (int i = 0; i < 2; ++i) {
        float positions[9];
        FillTriangle(i == 0 ? -1.0f : 1.0f, positions);
        jnaPictureMesh mesh = MakeMesh(positions, 0.8f, 0.02f, 0.02f);
        jnaPictureDef def = MakeDef();
        def.camera.fieldOfView = 40;
        jnaPicture picture = Draw(&def, &mesh, 1);
        covered[i] = CountRed(&picture);
        jnaDestroyPicture(&picture);
    }
    // Eye at 1 / tan(20 degrees) = 2.747 m: sizes go as 1/3.747 to 1/1.747, areas as the square of it.
    assert_in_range(100 * covered[1] / covered[0], 430, 490);
}

static void EdgesAreSmooth(void** state)
{
    (void)state;
    float positions[9];
    FillTriangle(0, positions);
    jnaPictureMesh mesh = MakeMesh(positions, 0, 0, 0.001f);
    jnaPictureDef def = MakeDef();
    for (int samples = 1; samples <= 4; samples += 3) {
        def.samples = samples;
        jnaPicture picture = Draw(&def, &mesh, 1);
        int between = 0;
        for (int i = 0; i < 10000; ++i) {
            between += picture.pixels[4 * i] > 90 && picture.pixels[4 * i] < 190;
        }
        assert_true(samples == 1 ? between == 0 : between > 20);
        jnaDestroyPicture(&picture);
    }
}

static void EachMeshStandsInItsPanel(void** state)
{
    (void)state;
    float positions[9];
    FillTriangle(0, positions);
    jnaPictureMesh mesh = MakeMesh(positions, 0.8f, 0.02f, 0.02f);
    mesh.panel = 3;
    jnaPictureDef def = MakeDef();
    def.columns = def.rows = 2;
    jnaPicture picture = Draw(&def, &mesh, 1);
    assert_int_equal(picture.width, 200);
    assert_int_equal(picture.height, 200);
    assert_false(IsRed(PixelAt(&picture, 30, 70)));
    assert_true(IsRed(PixelAt(&picture, 130, 170)));
    jnaDestroyPicture(&picture);
}

static void TurnsAndOffsetsMoveTheMesh(void** state)
{
    (void)state;
    float positions[9];
    FillTriangle(0, positions);
    jnaPictureMesh mesh = MakeMesh(positions, 0.8f, 0.02f, 0.02f);
    mesh.turn = 180;
    mesh.offset[1] = 0.4f;
    jnaPictureDef def = MakeDef();
    jnaPicture picture = Draw(&def, &mesh, 1);
    // The square corner is now at (0.5, -0.1): pixel (75, 55).
    assert_true(IsRed(PixelAt(&picture, 73, 53)));
    assert_false(IsRed(PixelAt(&picture, 26, 40)));
    assert_false(IsRed(PixelAt(&picture, 73, 57)));
    jnaDestroyPicture(&picture);
}

// A bumpy sheet over the ground, with every way of colouring.
static jnaPicture DrawSheet(int threads)
{
    enum { SIDE = 24, VERTICES = (SIDE + 1) * (SIDE + 1) };
    static float positions[3 * VERTICES], heat[VERTICES];
    static int32_t triangles[6 * SIDE * SIDE];
    for (int v = 0; v < VERTICES; ++v) {
        int i = v % (SIDE + 1), k = v / (SIDE + 1);
        positions[3 * v] = ((float)i - SIDE / 2) * 0.04f;
        positions[3 * v + 1] = 0.7f + 0.1f * (float)((i * i + 3 * k) % 7) / 7;
        positions[3 * v + 2] = ((float)k - SIDE / 2) * 0.04f;
        heat[v] = (float)i;
    }
    for (int t = 0; t < SIDE * SIDE; ++t) {
        int a = t / SIDE * (SIDE + 1) + t % SIDE, b = a + SIDE + 1;
        const int32_t quad[6] = {a, b, a + 1, a + 1, b, b + 1};
        memcpy(triangles + 6 * t, quad, sizeof(quad));
    }
    jnaPictureMesh mesh = {.positions = positions,
        .vertexCount = VERTICES,
        .triangles = triangles,
        .triangleCount = 2 * SIDE * SIDE,
        .heat = heat,
        .heatHigh = SIDE};
    jnaPictureDef def = jnaDefaultPictureDef();
    def.panelWidth = 160;
    def.panelHeight = 120;
    def.camera.pitch = 25;
    def.threads = threads;
    return Draw(&def, &mesh, 1);
}

static void OneAndTwoThreadsGiveTheSameBytes(void** state)
{
    (void)state;
    jnaPicture one = DrawSheet(1), two = DrawSheet(2);
    assert_memory_equal(one.pixels, two.pixels, 160 * 120 * 4);
    jnaDestroyPicture(&one);
    jnaDestroyPicture(&two);
}

static void TheGroundIsDarkerUnderASurface(void** state)
{
    (void)state;
    jnaPicture picture = DrawSheet(1);
    // Below the sheet, in the middle, against the same height at the edge of the picture.
    const uint8_t *under = PixelAt(&picture, 84, 100), *open = PixelAt(&picture, 2, 100);
    assert_true(under[1] + 10 < open[1]);
    jnaDestroyPicture(&picture);
}

static void TheColourMapGetsLighterEverywhere(void** state)
{
    (void)state;
    float before = -1;
    for (int i = 0; i <= 100; ++i) {
        float rgb[3];
        jnaHeatColor((float)i / 100, rgb);
        float luminance = 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
        assert_true(luminance > before);
        before = luminance;
    }
    float low[3], below[3], wrong[3];
    jnaHeatColor(0, low);
    jnaHeatColor(-3, below);
    jnaHeatColor(NAN, wrong);
    assert_memory_equal(low, below, sizeof(low));
    assert_memory_equal(low, wrong, sizeof(low));
}

static void ACaptionHasABandOfItsOwnUnderItsPanel(void** state)
{
    (void)state;
    jnaPictureDef def = MakeDef();
    def.panelHeight = 100;
    def.rows = 2;
    assert_int_equal(jnaPictureDef_Band(&def), 0);
    jnaPicture plain = Draw(&def, NULL, 0);
    const char* captions[2] = {"HHHH", NULL};
    def.captions = captions;
    jnaPicture written = Draw(&def, NULL, 0);
    size_t row = 4 * (size_t)plain.width, panel = 100 * row, band = (size_t)jnaPictureDef_Band(&def) * row;
    assert_int_equal(written.height, plain.height + 2 * jnaPictureDef_Band(&def));
    // The panels are what they were, and only the first band has dark letters, none of them at its edge.
    assert_memory_equal(plain.pixels, written.pixels, panel);
    assert_memory_equal(plain.pixels + panel, written.pixels + panel + band, panel);
    int dark[2] = {0};
    for (size_t i = 0; i < 2 * band; i += 4) {
        size_t of = i / band, at = panel + i % band + of * (panel + band);
        dark[of] += written.pixels[at] < 200;
        bool edge = i % band < row || i % band >= band - row;
        assert_true(!edge || written.pixels[at] > 200);
    }
    assert_true(dark[0] > 20);
    assert_int_equal(dark[1], 0);
    jnaDestroyPicture(&plain);
    jnaDestroyPicture(&written);
}

static void WrongSizesAreRefusedInWords(void** state)
{
    (void)state;
    for (int i = 0; i < 5; ++i) {
        jnaPictureDef def = MakeDef();
        def.panelWidth = i == 0 ? 0 : i == 1 ? 100000 : 100;
        def.samples = i == 2 ? 9 : 1;
        def.camera.height = i == 3 ? 0 : 2;
        def.camera.fieldOfView = i == 4 ? 180 : 0;
        jnaPicture picture;
        jnError error = {0};
        assert_int_equal(jnaDrawPicture(&def, NULL, 0, &picture, &error), jn_badArgument);
        assert_true(strlen(error.message) > 10);
        assert_null(picture.pixels);
    }
}

static int CountFiles(const char* folder)
{
    DIR* directory = opendir(folder);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

static void APngAppearsWholeOrNotAtAll(void** state)
{
    (void)state;
    char folder[] = JN_BINARY_DIR "/picture-XXXXXX", path[512], missing[512];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/sheet.png", folder);
    snprintf(missing, sizeof(missing), "%s/none/sheet.png", folder);
    jnaPicture picture = DrawSheet(1);
    jnError error = {0};
    assert_int_equal(jnaPicture_Write(&picture, path, &error), jn_ok);
    assert_int_equal(CountFiles(folder), 1);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char bytes[24];
    assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
    fclose(file);
    const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    assert_memory_equal(bytes, signature, sizeof(signature));
    assert_int_equal(bytes[19], 160);
    assert_int_equal(bytes[23], 120);
    assert_int_equal(jnaPicture_Write(&picture, missing, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "sheet.png"));
    // Where a folder has the name, the rename fails, and the temporary file must be gone.
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(jnaPicture_Write(&picture, path, &error), jn_ioFailed);
    assert_int_equal(CountFiles(folder), 1);
    rmdir(path);
    rmdir(folder);
    jnaDestroyPicture(&picture);
}

// Whatever its size and place above the ground, a mesh fills its panel without touching the edge.
static void AFramedMeshFillsItsPanel(void** state)
{
    (void)state;
    static const float sizes[3] = {0.01f, 1.7f, 300.0f};
    for (int i = 0; i < 3; ++i) {
        float positions[9];
        FillTriangle(0.1f, positions);
        for (int k = 0; k < 9; ++k) {
            positions[k] = (positions[k] + (k % 3 == 1 ? 0.9f : 0.0f)) * sizes[i];
        }
        jnaPictureMesh mesh = MakeMesh(positions, 0.8f, 0.02f, 0.02f);
        jnaPictureDef def = MakeDef();
        def.camera = jnaDefaultPictureDef().camera;
        jnaPictureDef_Frame(&def, &mesh, 1);
        assert_true(def.panelWidth > 80 && def.panelWidth < 160);
        jnaPicture picture = Draw(&def, &mesh, 1);
        int top = picture.height, bottom = 0, left = picture.width, right = 0;
        for (int y = 0; y < picture.height; ++y) {
            for (int x = 0; x < picture.width; ++x) {
                if (IsRed(PixelAt(&picture, x, y))) {
                    top = y < top ? y : top;
                    bottom = y > bottom ? y : bottom;
                    left = x < left ? x : left;
                    right = x > right ? x : right;
                }
            }
        }
        assert_in_range(top, 3, 7);
        assert_in_range(bottom, 92, 96);
        assert_true(left >= 3 && right < picture.width - 3 && right - left > picture.width * 3 / 4);
        jnaDestroyPicture(&picture);
    }
    jnaPictureDef def = MakeDef();
    jnaPictureDef_Frame(&def, NULL, 0); // nothing to look at: the camera stays
    assert_true(def.camera.height == 2.0f && def.panelWidth == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFramedMeshFillsItsPanel),
        cmocka_unit_test(ATriangleCoversThePixelsItShould),
        cmocka_unit_test(TheNearerSurfaceWinsInEitherOrder),
        cmocka_unit_test(PerspectiveMakesTheNearerLarger),
        cmocka_unit_test(EdgesAreSmooth),
        cmocka_unit_test(EachMeshStandsInItsPanel),
        cmocka_unit_test(TurnsAndOffsetsMoveTheMesh),
        cmocka_unit_test(OneAndTwoThreadsGiveTheSameBytes),
        cmocka_unit_test(TheGroundIsDarkerUnderASurface),
        cmocka_unit_test(TheColourMapGetsLighterEverywhere),
        cmocka_unit_test(ACaptionHasABandOfItsOwnUnderItsPanel),
        cmocka_unit_test(WrongSizesAreRefusedInWords),
        cmocka_unit_test(APngAppearsWholeOrNotAtAll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
