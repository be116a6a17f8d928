// How soft a body is, against a table for people, by regions of its own: boxes in the rest surface that know nothing of
// bones, joints or the code that tells regions apart. And lips, the lowest modes, and joints without names.
#include "helpers/volumes.h"
#include "modes/modes.h"
#include "pipeline/lips.h"
#include "pipeline/softness.h"
#include "volume/bones.h"

typedef enum Place {
    BELLY,
    BREAST,
    BUTTOCK,
    THIGH,
    CALF,
    RIBS,
    KNEE,
    ELBOW,
    HEEL,
    SHIN,
    HAND,
    FOOT,
    SKULL,
    PLACES,
} Place;

// Asked of heavy bodies, which all three are, with muscle that is tense in the limbs: median sag of the skin under 1 g
// along -Y, mm.
static const struct {
    const char* name;
    double least, most;
} asked[PLACES] = {
    [BELLY] = {"belly", 7, 25},
    [BREAST] = {"breast", 6, 30},
    [BUTTOCK] = {"buttock", 4, 12},
    [THIGH] = {"thigh", 0.5, 3},
    [CALF] = {"calf", 0.4, 2},
    [RIBS] = {"chest over ribs", 0, 4},
    [KNEE] = {"knee", 0, 2.5},
    [ELBOW] = {"elbow", 0, 2.5},
    [HEEL] = {"heel", 0, 1},
    [SHIN] = {"shin, front", 0, 1},
    [HAND] = {"hand", 0, 1},
    [FOOT] = {"foot", 0, 1},
    [SKULL] = {"skull", 0, 1},
};

// Part of a place: x to both sides, y from the soles, z to the front, parts of the height.
typedef struct Box {
    Place place;
    double x[2], y[2], z[2];
} Box;

#define ALL                                                                                                            \
    {                                                                                                                  \
        -1, 1                                                                                                          \
    }

static const Box figureBoxes[] = {
    {BELLY, {0, 0.08}, {0.54, 0.66}, {0.08, 1}},
    {BUTTOCK, {0.02, 0.1}, {0.47, 0.53}, {-1, -0.075}},
    {THIGH, {0, 0.2}, {0.33, 0.43}, ALL},
    {CALF, {0, 0.2}, {0.14, 0.23}, {-1, -0.03}},
    {RIBS, {0, 0.07}, {0.69, 0.79}, {-1, -0.05}},       // back
    {RIBS, {0, 0.015}, {0.74, 0.79}, {0.03, 1}},        // breast bone
    {RIBS, {0.085, 0.13}, {0.68, 0.73}, {-0.04, 0.03}}, // sides
    {KNEE, {0, 0.2}, {0.26, 0.292}, ALL},
    {ELBOW, {0.215, 0.255}, {0.6, 0.75}, ALL},
    {HEEL, {0, 0.2}, {-1, 0.05}, {-1, -0.035}},
    {SHIN, {0, 0.2}, {0.09, 0.14}, {0.01, 1}},
    {SHIN, {0, 0.2}, {0.14, 0.21}, {0.02, 1}},
    {HAND, {0.37, 1}, ALL, ALL},
    {FOOT, {0, 0.2}, {-1, 0.04}, ALL},
    {SKULL, {0, 0.2}, {0.92, 2}, ALL},
};

static const Box bodyBoxes[] = {
    {BELLY, {0, 0.08}, {0.55, 0.67}, {0.08, 1}},
    {BREAST, {0.03, 0.09}, {0.71, 0.75}, {0.085, 1}},
    {BUTTOCK, {0.02, 0.1}, {0.49, 0.55}, {-1, -0.05}},
    {THIGH, {0, 0.2}, {0.34, 0.44}, ALL},
    {CALF, {0, 0.2}, {0.15, 0.24}, {-1, -0.015}},
    {RIBS, {0, 0.07}, {0.7, 0.8}, {-1, -0.045}},
    {RIBS, {0, 0.012}, {0.78, 0.82}, {0.05, 1}},
    {RIBS, {0.09, 0.115}, {0.68, 0.71}, {-0.03, 0.05}},
    {KNEE, {0, 0.2}, {0.275, 0.31}, ALL},
    {ELBOW, {0.185, 0.225}, {0.62, 0.74}, {-1, 0.05}},
    {HEEL, {0, 0.2}, {-1, 0.04}, {-1, -0.005}},
    {SHIN, {0, 0.2}, {0.09, 0.22}, {0.025, 1}},
    {HAND, {0.26, 1}, {-1, 0.63}, {0.13, 1}},
    {FOOT, {0, 0.2}, {-1, 0.03}, ALL},
    {SKULL, {0, 0.2}, {0.935, 2}, ALL},
};

static const Box womanBoxes[] = {
    {BELLY, {0, 0.07}, {0.54, 0.65}, {0.075, 1}},
    {BREAST, {0.035, 0.09}, {0.7, 0.745}, {0.08, 1}},
    {BUTTOCK, {0.02, 0.1}, {0.48, 0.54}, {-1, -0.045}},
    {THIGH, {0, 0.2}, {0.33, 0.43}, ALL},
    {CALF, {0, 0.2}, {0.14, 0.23}, {-1, -0.005}},
    {RIBS, {0, 0.07}, {0.69, 0.79}, {-1, -0.035}},
    {RIBS, {0, 0.012}, {0.77, 0.81}, {0.04, 1}},
    {RIBS, {0.075, 0.105}, {0.67, 0.71}, {-0.02, 0.05}},
    {KNEE, {0, 0.2}, {0.265, 0.297}, ALL},
    {ELBOW, {0.175, 0.215}, {0.62, 0.74}, {-1, 0.055}},
    {HEEL, {0, 0.2}, {-1, 0.04}, {-1, 0.012}},
    {SHIN, {0, 0.2}, {0.09, 0.22}, {0.035, 1}},
    {HAND, {0.25, 1}, {-1, 0.63}, {0.11, 1}},
    {FOOT, {0, 0.2}, {-1, 0.03}, ALL},
    {SKULL, {0, 0.2}, {0.935, 2}, ALL},
};

typedef struct Subject {
    const char* name;
    const Box* boxes;
    size_t count;
} Subject;

static const Subject figureSubject = {"figure", figureBoxes, sizeof(figureBoxes) / sizeof(Box)};
static const Subject bodySubject = {"body", bodyBoxes, sizeof(bodyBoxes) / sizeof(Box)};
static const Subject womanSubject = {"woman", womanBoxes, sizeof(womanBoxes) / sizeof(Box)};

static bool IsIn(const Box* box, const float* p, double low, double height)
{
    double x = fabs((double)p[0]) / height, y = ((double)p[1] - low) / height, z = (double)p[2] / height;
    return x >= box->x[0] && x <= box->x[1] && y >= box->y[0] && y <= box->y[1] && z >= box->z[0] && z <= box->z[1];
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

// Median over a place, mm. Returns how many vertices it has.
static int MedianOf(const Subject* s, Place place, const jnaCharacter* c, const float* lengths, double* median)
{
    float low = HUGE_VALF, high = -HUGE_VALF, *values = malloc((size_t)c->vertexCount * sizeof(float));
    int count = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        low = fminf(low, c->positions[3 * v + 1]);
        high = fmaxf(high, c->positions[3 * v + 1]);
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        bool inside = false;
        for (size_t i = 0; i < s->count; ++i) {
            inside = inside || (s->boxes[i].place == place &&
                                   IsIn(&s->boxes[i], c->positions + 3 * v, (double)low, (double)high - (double)low));
        }
        if (inside) {
            values[count++] = lengths[v];
        }
    }
    qsort(values, (size_t)count, sizeof(float), CompareFloats);
    *median = count > 0 ? 1e3 * (double)values[count / 2] : 0;
    free(values);
    return count;
}

// Prints the table and fails at the end, with all that is beyond its bounds.
static void CheckTable(const Subject* s, const jnaCharacter* c, const jnaSag* sag)
{
    char wrong[512] = "";
    print_message("%s: sag under 1 g, mm, median of so many vertices; asked\n", s->name);
    for (int place = 0; place < PLACES; ++place) {
        double median = 0;
        int count = MedianOf(s, (Place)place, c, sag->lengths[0], &median);
        bool fits = median >= asked[place].least && median <= asked[place].most;
        if (count == 0) {
            print_message("  %-16s n/a\n", asked[place].name);
            continue;
        }
        print_message("  %-16s %6.2f of %4d; %g-%g%s\n", asked[place].name, median, count, asked[place].least,
            asked[place].most, fits ? "" : ", not met");
        assert_true(count >= 15);
        if (!fits) {
            size_t used = strlen(wrong);
            snprintf(wrong + used, sizeof(wrong) - used, " %s %.2f", asked[place].name, median);
        }
    }
    if (wrong[0] != '\0') {
        fail_msg("%s: beyond what is asked:%s", s->name, wrong);
    }
}

static void FillInside(TestVolume* test)
{
    jnError error = {0};
    if (jnaVolume_PlaceBones(&test->volume, &test->character, NULL, NULL, NULL, &error) != jn_ok ||
        jnaVolume_CalibrateMaterials(&test->volume, &test->character, NULL, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// Bones and materials when every joint is called joint_NN.
static void RenamingChangesNothing(TestVolume* test)
{
    jnaVolume* v = &test->volume;
    size_t nodes = (size_t)v->nodeCount, elements = (size_t)v->tetrahedronCount;
    int32_t* heldBy = malloc(nodes * sizeof(int32_t));
    float* strengths = malloc(nodes * sizeof(float));
    jnaMaterial* materials = malloc(elements * sizeof(jnaMaterial));
    memcpy(heldBy, v->heldBy, nodes * sizeof(int32_t));
    memcpy(strengths, v->holdStrength, nodes * sizeof(float));
    for (size_t t = 0; t < elements; ++t) {
        materials[t] = v->materials[v->regions[t]];
    }
    for (int j = 0; j < test->character.jointCount; ++j) {
        snprintf(test->character.joints[j].name, JNA_NAME_LENGTH, "joint_%02d", j);
    }
    FillInside(test);
    assert_memory_equal(heldBy, v->heldBy, nodes * sizeof(int32_t));
    assert_memory_equal(strengths, v->holdStrength, nodes * sizeof(float));
    for (size_t t = 0; t < elements; ++t) {
        assert_memory_equal(&materials[t], &v->materials[v->regions[t]], sizeof(jnaMaterial));
    }
    free(heldBy);
    free(strengths);
    free(materials);
}

static void CheckSubject(const Subject* subject, TestVolume* test)
{
    jnaSag sag;
    const jnaBodyDef body = jnaDefaultBodyDef();
    jnError error = {0};
    CarryTestWeights(test);
    FillInside(test);
    if (jnaMeasureSag(&test->volume, &test->character, &body, 1, &sag, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_true(sag.converged);
    assert_true(sag.human);
    CheckTable(subject, &test->character, &sag);
    jnaDestroySag(&sag);
    RenamingChangesNothing(test);
}

static void TheFigureIsAsSoftAsABody(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = MakeFigureVolume();
    CheckSubject(&figureSubject, &test);
    // The mesh has nodes along the bones: it does not ask for names either.
    TestVolume again = {.character = test.character};
    MeshTestVolume(&again);
    assert_int_equal(again.volume.nodeCount, test.volume.nodeCount);
    assert_memory_equal(again.volume.nodes, test.volume.nodes, 3 * (size_t)test.volume.nodeCount * sizeof(double));
    jnaDestroyVolume(&again.volume);
    DestroyTestVolume(&test);
}

static void TheBodyIsAsSoftAsABody(void** state)
{
    (void)state;
    TestVolume test = MakeBodyVolume(NULL);
    CheckSubject(&bodySubject, &test);
    DestroyTestVolume(&test);
}

static void TheWomanIsAsSoftAsABody(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = {0};
    jnaClipList clips = {0};
    jnaImportDef def = jnaDefaultImportDef();
    NeedTetgen(BODY_DATA "woman.glb");
    assert_int_equal(jnaImportCharacter(BODY_DATA "woman.glb", &def, &test.character, &clips, NULL, NULL, NULL), jn_ok);
    jnaDestroyClipList(&clips);
    MeshTestVolume(&test);
    CheckSubject(&womanSubject, &test);
    DestroyTestVolume(&test);
}

static void AThingOfAnySizeSagsByASmallPartOfIt(void** state)
{
    (void)state;
    const double small[3] = {0.4, 0.2, 0.2}, large[3] = {8, 4, 4};
    for (int i = 0; i < 2; ++i) {
        TestVolume test = MakeBlock(6, 4, 4, i == 0 ? small : large, 0, 2);
        jnaSag sag;
        const jnaBodyDef body = jnaDefaultBodyDef();
        double median, greatest;
        CarryTestWeights(&test);
        FillInside(&test);
        assert_int_equal(jnaMeasureSag(&test.volume, &test.character, &body, 1, &sag, NULL), jn_ok);
        assert_int_equal(jnaSag_Region(&sag, 0, jna_regionOther, &median, &greatest), test.character.vertexCount);
        print_message("%g m: sag %.3f %% in the middle, %.3f %% at most\n", sag.size, 100 * median / sag.size,
            100 * greatest / sag.size);
        assert_true(median > 0 && median < 0.0083 * sag.size && greatest < 0.0132 * sag.size);
        jnaDestroySag(&sag);
        DestroyTestVolume(&test);
    }
}

enum { STRIP = 41, WIDE = 5 };

// A strip that is folded over itself, a millimetre apart: a pocket seen from its inside, or a thin flap.
static jnaCharacter MakeFold(bool pocket)
{
    jnaCharacter c = {.jointCount = 1, .vertexCount = 2 * STRIP * WIDE, .fileVertexCount = 2 * STRIP * WIDE};
    c.triangleCount = 2 * (2 * STRIP - 1) * (WIDE - 1);
    jnError error = {0};
    assert_int_equal(jnaCharacter_Allocate(&c, false, &error), jn_ok);
    for (int i = 0; i < 2 * STRIP; ++i) {
        for (int k = 0; k < WIDE; ++k) {
            float* p = c.positions + 3 * (i * WIDE + k);
            p[0] = 0.001f * (float)(i < STRIP ? i : 2 * STRIP - 1 - i);
            p[1] = i < STRIP ? 0.0f : 0.001f;
            p[2] = 0.001f * (float)k;
            c.weld[i * WIDE + k] = i * WIDE + k;
        }
    }
    int32_t* t = c.triangles;
    for (int i = 0; i + 1 < 2 * STRIP; ++i) {
        for (int k = 0; k + 1 < WIDE; ++k, t += 6) {
            int a = i * WIDE + k, b = a + 1, d = a + WIDE, e = d + 1;
            const int32_t inside[6] = {a, b, d, d, b, e}, outside[6] = {a, d, b, d, e, b};
            memcpy(t, pocket ? inside : outside, sizeof(inside));
        }
    }
    return c;
}

static void LipsAreWhereASurfaceFacesItself(void** state)
{
    (void)state;
    for (int pocket = 0; pocket < 2; ++pocket) {
        jnaCharacter c = MakeFold(pocket == 1);
        uint8_t regions[2 * STRIP * WIDE];
        jnaLips lips;
        memset(regions, jna_regionHead, sizeof(regions));
        assert_int_equal(jnaFindLips(&c, regions, 1.75, &lips, NULL), jn_ok);
        if (pocket == 0) {
            assert_int_equal(lips.count, 0); // a flap's two sides look away from each other
        } else {
            // Where the way around the fold is longer than 12 mm.
            assert_true(lips.count >= (STRIP - 6) * WIDE && lips.count <= (STRIP - 4) * WIDE);
            assert_true(lips.rest >= 0.00099 && lips.rest < 0.00202);
            float moved[3 * 2 * STRIP * WIDE];
            memcpy(moved, c.positions, sizeof(moved));
            ASSERT_NEAR(jnaLips_Opening(&lips, moved, c.positions), 0, 1e-9);
            for (int i = STRIP * WIDE; i < 2 * STRIP * WIDE; ++i) {
                moved[3 * i + 1] += 0.003f;
            }
            ASSERT_NEAR(jnaLips_Opening(&lips, moved, c.positions), 0.003, 1e-6);
            ASSERT_NEAR(jnaLips_Opening(&lips, c.positions, moved), 0, 1e-9);
        }
        jnaDestroyLips(&lips);
        memset(regions, jna_regionHand, sizeof(regions));
        assert_int_equal(jnaFindLips(&c, regions, 1.75, &lips, NULL), jn_ok);
        assert_int_equal(lips.count, 0);
        jnaDestroyLips(&lips);
        jnaDestroyCharacter(&c);
    }
}

static void TheLowestModeOfARegionMovesATenthOfIt(void** state)
{
    (void)state;
    enum { VERTICES = 40 };
    jnaModes modes;
    uint8_t regions[VERTICES];
    int lowest[JNA_REGIONS];
    assert_int_equal(jnaModes_Allocate(&modes, 3, VERTICES, 1, NULL), jn_ok);
    for (int v = 0; v < VERTICES; ++v) {
        regions[v] = v < 20 ? jna_regionBelly : jna_regionKnee;
        modes.shapes[3 * v] = v < 20 ? 1.0f : v == 20 ? 0.9f : 0.1f; // of the knee one vertex alone: a border
        modes.shapes[3 * (VERTICES + v) + 1] = v < 20 ? 1.0f : 0.4f;
        modes.shapes[3 * (2 * VERTICES + v) + 2] = v < 20 ? 0.1f : v < 22 ? 0.6f : 0.05f;
    }
    modes.shapes[3 * (2 * VERTICES + 39) + 2] = 1.0f;
    jnaLowestModes(&modes, regions, lowest);
    assert_int_equal(lowest[jna_regionBelly], 0);
    assert_int_equal(lowest[jna_regionKnee], 2);
    assert_int_equal(lowest[jna_regionFoot], -1);
    jnaDestroyModes(&modes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LipsAreWhereASurfaceFacesItself),
        cmocka_unit_test(TheLowestModeOfARegionMovesATenthOfIt),
        cmocka_unit_test(AThingOfAnySizeSagsByASmallPartOfIt),
        cmocka_unit_test(TheFigureIsAsSoftAsABody),
        cmocka_unit_test(TheBodyIsAsSoftAsABody),
        cmocka_unit_test(TheWomanIsAsSoftAsABody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
