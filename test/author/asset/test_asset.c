// The .jounce file: what was written is read, and nothing that was damaged is.
#include "helpers/box.h"

#include "runtime/asset_format.h"
#include "runtime/network.h"

#include "character/figure.h"
#include "character/hand_springs.h"
#include "jounce/character.h"
#include "learn/network.h"

static void* bytes;
static size_t size;

// A network small enough to be cut at every length: three inputs, four hidden units, two components or a small map.
static jnaNetwork* MakeBoxNetwork(jnNetworkKind kind)
{
    static int32_t inputs[3] = {7, 9, 11}, starts[9];
    static float centres[3], halves[3] = {0.5f, 0.5f, 0.5f}, parameters[64 * 1024], basis[3 * 24], lookups[16];
    static jnaNetwork n;
    n = (jnaNetwork){.kind = kind,
        .jointCount = 2,
        .vertexCount = 8,
        .inputCount = 3,
        .inputs = inputs,
        .centres = centres,
        .halves = halves,
        .layerCount = 2,
        .sizes = {3, 4, 2},
        .parameters = parameters,
        .componentCount = 2,
        .basis = basis,
        .energy = 2.0,
        .unit = 0.01f,
        .validation = 0.001};
    for (int i = 0; i < 64 * 1024; ++i) {
        parameters[i] = 0.1f * (float)(i % 17 - 8);
    }
    for (int i = 0; i < 3 * 24; ++i) {
        basis[i] = 0.002f * (float)(i % 11 - 5);
    }
    if (kind == jn_networkCnn) {
        n.componentCount = 0;
        n.basis = NULL;
        n.stageCount = 1;
        n.firstSize = 4;
        n.channels[0] = 1;
        n.channels[1] = 3;
        n.sizes[2] = 16;
        n.lookupCount = 8;
        n.lookupStarts = starts;
        n.lookups = lookups;
        for (int v = 0; v < 8; ++v) {
            starts[v + 1] = v + 1;
            lookups[2 * v] = lookups[2 * v + 1] = 0.8f * (float)v;
        }
    }
    return &n;
}

// user: which network the file has; both are put through everything.
static int MakeFileWith(jnNetworkKind kind)
{
    Box* box = MakeBox();
    box->def.network = MakeBoxNetwork(kind);
    jnResult result = jnaEncodeAsset(&box->def, &bytes, &size, NULL);
    DestroyBox(box);
    return result == jn_ok ? 0 : -1;
}

static int MakeFile(void** state)
{
    (void)state;
    Box* box = MakeBox();
    box->def.network = MakeBoxNetwork(jn_networkPca);
    jnResult result = jnaEncodeAsset(&box->def, &bytes, &size, NULL);
    if (result == jn_ok) {
        result = jnaWriteAsset(JN_BINARY_DIR "/seed.jounce", &box->def, NULL); // for the fuzzer
    }
    DestroyBox(box);
    return result == jn_ok ? 0 : -1;
}

static int FreeFile(void** state)
{
    (void)state;
    free(bytes);
    return 0;
}

// A copy at a multiple of 64, to be damaged.
static char* CopyFile(void)
{
    char* copy = aligned_alloc(JN_ALIGNMENT, jnAlignUp(size + 1));
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void FixChecksum(char* copy)
{
    uint64_t checksum = jnAssetChecksum(copy, size);
    memcpy(copy + offsetof(jnAssetHeader, checksum), &checksum, sizeof(checksum));
}

static jnResult Load(const void* copy, size_t length, jnError* error)
{
    jnAsset* asset;
    jnResult result = jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = length, .source = "box.jounce"}, &asset, error);
    assert_true((result == jn_ok) == (asset != NULL));
    jnDestroyAsset(asset);
    return result;
}

// Fails unless the damaged copy, its checksum set right, is refused with both words.
static void ExpectRefusal(char* copy, const char* word, const char* other)
{
    jnError error = {0};
    FixChecksum(copy);
    assert_int_equal(Load(copy, size, &error), jn_badData);
    if (strstr(error.message, word) == NULL || strstr(error.message, other) == NULL) {
        fail_msg("it said: %s", error.message);
    }
    free(copy);
}

static jnAssetEntry* EntryOf(char* copy, uint32_t id)
{
    jnAssetHeader* header = (jnAssetHeader*)(void*)copy;
    jnAssetEntry* entries = (jnAssetEntry*)(void*)(copy + sizeof(*header));
    for (uint32_t i = 0; i < header->sectionCount; ++i) {
        if (entries[i].id == id) {
            return &entries[i];
        }
    }
    fail();
    return NULL;
}

static void* SectionOf(char* copy, uint32_t id)
{
    return copy + EntryOf(copy, id)->offset;
}

// Where a vertex of the box went, since those with targets change places.
static int PlaceOf(char* copy, int vertex)
{
    const int32_t* order = SectionOf(copy, JN_SECTION_ORDER);
    int place = 0;
    while (order[place] != vertex) {
        ++place;
    }
    return place;
}

static void WhatIsWrittenIsRead(void** state)
{
    (void)state;
    Box* box = MakeBox();
    jnAsset* a;
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &a, NULL), jn_ok);
    assert_string_equal(a->name, "box");
    assert_int_equal(a->vertexCount, 8);
    assert_int_equal(a->fileVertexCount, 24);
    assert_int_equal(a->springCount, 8);
    assert_int_equal(a->normalCount, 24);
    assert_false(a->weldIsIdentity);
    for (int i = 0; i < 24; ++i) {
        assert_int_equal(a->order[a->weld[i]], box->character.weld[i]);
    }
    assert_memory_equal(a->triangles, box->character.triangles, 36 * sizeof(int32_t));
    assert_memory_equal(a->uvs, box->character.fileUvs, 48 * sizeof(float));
    for (int v = 0; v < 8; ++v) {
        assert_true(a->stiffness[PlaceOf(bytes, v)] == box->stiffness[v]);
    }
    assert_string_equal(a->joints[1].name, "upper");
    assert_string_equal(a->parts[0].material, "card");
    int second = 2 * PlaceOf(bytes, 2); // the largest first
    assert_true(a->influenceWeights[second] == 0.75f && a->influenceJoints[second] == 1);
    assert_int_equal(jnAsset_FindClip(a, "nod"), 0);
    assert_int_equal(jnAsset_FindClip(a, "shake"), -1);
    jnAssetClip clip = jnAsset_Clip(a, 0);
    assert_true(clip.looping && clip.frameCount == BOX_FRAMES && clip.rate == 30.0);
    assert_memory_equal(clip.rotations, box->clip.rotations, BOX_FRAMES * 8 * sizeof(float));
    assert_memory_equal(clip.scales, box->clip.scales, BOX_FRAMES * 6 * sizeof(float));
    assert_ptr_equal(
        (const char*)a->rest - (const char*)bytes, (ptrdiff_t)EntryOf(bytes, JN_SECTION_REST)->offset); // no copy
    jnDestroyAsset(a);
    DestroyBox(box);
}

static void ClipsAreSampledBetweenFramesAndAroundTheirEnd(void** state)
{
    (void)state;
    jnAsset* a;
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &a, NULL), jn_ok);
    float rotations[8], translations[6], scales[6], again[8];
    jnAssetClip clip = jnAsset_Clip(a, 0);
    jnAsset_SampleClip(a, 0, 2.0 / 30, rotations, translations, scales);
    for (int i = 0; i < 8; ++i) {
        ASSERT_NEAR(rotations[i], clip.rotations[16 + i], 1e-6);
    }
    jnAsset_SampleClip(a, 0, 4.5 / 30, rotations, translations, scales); // between the last frame and the first
    double sum[4] = {0};
    for (int i = 0; i < 4; ++i) { // the spline through the four frames around
        static const double weights[4] = {-0.0625, 0.5625, 0.5625, -0.0625};
        static const int frames[4] = {3, 4, 0, 1};
        for (int k = 0; k < 4; ++k) {
            sum[i] += weights[k] * (double)clip.rotations[8 * frames[k] + 4 + i];
        }
    }
    double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
    ASSERT_NEAR(rotations[4], sum[0] / length, 1e-6);
    ASSERT_NEAR(rotations[4] * rotations[4] + rotations[7] * rotations[7], 1, 1e-6);
    jnAsset_SampleClip(a, 0, (4.5 - BOX_FRAMES) / 30, again, translations, scales);
    ASSERT_NEAR(again[4], rotations[4], 1e-5);
    jnDestroyAsset(a);
}

// At a frame a clip is as fast on one side as on the other: linear interpolation would jump by 0.1 and more.
static void ClipsHaveAVelocityAtTheirFrames(void** state)
{
    (void)state;
    jnAsset* a;
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &a, NULL), jn_ok);
    for (int frame = 0; frame < 2 * BOX_FRAMES; ++frame) {
        float at[3][14];
        for (int i = 0; i < 3; ++i) {
            float scales[6];
            jnAsset_SampleClip(a, 0, (frame + 0.01 * (i - 1)) / 30, at[i], at[i] + 8, scales);
        }
        for (int i = 0; i < 14; ++i) { // per frame, from 0.01 of one
            ASSERT_NEAR(100 * (at[1][i] - at[0][i]), 100 * (at[2][i] - at[1][i]), 0.012);
        }
    }
    jnDestroyAsset(a);
}

static void BytesThatAreNotAlignedAreCopied(void** state)
{
    (void)state;
    char* copy = aligned_alloc(JN_ALIGNMENT, jnAlignUp(size + JN_ALIGNMENT));
    for (size_t shift = 0; shift < 8; ++shift) {
        memcpy(copy + shift, bytes, size);
        assert_int_equal(Load(copy + shift, size, NULL), jn_ok);
    }
    free(copy);
}

static void AFileCutAnywhereIsRefused(void** state)
{
    (void)state;
    for (size_t length = 0; length < size; ++length) {
        char* copy = malloc(length + 1); // as short as it is said to be, so that reading on is seen
        jnError error = {0};
        memcpy(copy, bytes, length);
        assert_int_equal(Load(copy, length, &error), jn_badData);
        assert_non_null(strstr(error.message, "box.jounce: "));
        free(copy);
    }
}

static void AnyByteFlippedIsRefused(void** state)
{
    (void)state;
    char* copy = CopyFile();
    for (size_t i = 0; i < size; ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            copy[i] = (char)(copy[i] ^ 1 << bit);
            assert_int_equal(Load(copy, size, NULL), jn_badData);
            copy[i] = (char)(copy[i] ^ 1 << bit);
        }
    }
    free(copy);
}

// Two seconds of motion with whatever could be loaded: nothing may be read or written outside.
static void PlayAsset(const jnAsset* asset)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* character;
    if (jnCreateCharacter(&def, &character, NULL) != jn_ok) {
        return;
    }
    float* out = malloc(6 * sizeof(float) * (size_t)asset->fileVertexCount);
    jnCharacterOutput output = {.positions = out, .normals = out + 3 * (size_t)asset->fileVertexCount};
    for (int frame = 0; frame < 3; ++frame) {
        jnCharacter_Step(character, &(jnCharacterInput){.h = 0.03f}, &output);
    }
    free(out);
    jnDestroyCharacter(character);
}

static void ADamagedFileWithTheRightChecksumDoesNoHarm(void** state)
{
    (void)state;
    char* copy = CopyFile();
    int loaded = 0;
    for (size_t i = 0; i < size; ++i) {
        static const int patterns[3] = {0xff, 0x01, 0x80};
        if (i >= offsetof(jnAssetHeader, checksum) && i < offsetof(jnAssetHeader, reserved)) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            char before = copy[i];
            copy[i] = (char)(copy[i] ^ patterns[k]);
            FixChecksum(copy);
            jnAsset* asset;
            jnError error = {0};
            if (jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &asset, &error) == jn_ok) {
                loaded++;
                PlayAsset(asset);
                jnDestroyAsset(asset);
            } else {
                assert_true(error.code == jn_badData && error.message[0] != '\0');
            }
            copy[i] = before;
        }
    }
    assert_true(loaded > 0);
    free(copy);
}

static void EveryKindOfDamageIsNamed(void** state)
{
    (void)state;
    char* copy = CopyFile();
    ((jnAssetHeader*)(void*)copy)->version = 1;
    ExpectRefusal(copy, "version 1", "jounce export");
    copy = CopyFile();
    ((jnAssetHeader*)(void*)copy)->version = JN_ASSET_VERSION + 1;
    ExpectRefusal(copy, "use a newer one", "box.jounce");
    copy = CopyFile();
    EntryOf(copy, JN_SECTION_UVS)->offset = size;
    ExpectRefusal(copy, "UVS0", "outside");
    copy = CopyFile();
    EntryOf(copy, JN_SECTION_UVS)->id = JN_SECTION_WELD;
    ExpectRefusal(copy, "WELD", "twice");
    copy = CopyFile();
    EntryOf(copy, JN_SECTION_WELD)->id = JN_SECTION_ID('X', 'X', 'X', 'X');
    ExpectRefusal(copy, "XXXX", "does not know");
    copy = CopyFile();
    EntryOf(copy, JN_SECTION_DAMPING)->size -= 4;
    ExpectRefusal(copy, "DAMP", "28 bytes");
    copy = CopyFile();
    ((jnAssetInfo*)SectionOf(copy, JN_SECTION_INFO))->vertexCount = -1;
    ExpectRefusal(copy, "vertices is -1", "INFO");
    copy = CopyFile();
    ((jnAssetJoint*)SectionOf(copy, JN_SECTION_JOINTS))[1].parent = 1;
    ExpectRefusal(copy, "upper", "parent 1");
    copy = CopyFile();
    ((float*)SectionOf(copy, JN_SECTION_REST))[9] = NAN;
    ExpectRefusal(copy, "POSN", "vertex 2");
    copy = CopyFile();
    ((uint16_t*)SectionOf(copy, JN_SECTION_INFLUENCE_JOINTS))[2 * PlaceOf(copy, 2)] = 2;
    ExpectRefusal(copy, "INFJ", "joint 2");
    copy = CopyFile();
    ((float*)SectionOf(copy, JN_SECTION_INFLUENCE_WEIGHTS))[2 * PlaceOf(copy, 2)] = 0.5f;
    ExpectRefusal(copy, "INFW", "0.75");
    copy = CopyFile();
    ((uint32_t*)SectionOf(copy, JN_SECTION_INFLUENCE_STARTS))[1] = 4000000000u;
    ExpectRefusal(copy, "INFS", "4000000000");
    copy = CopyFile();
    ((int32_t*)SectionOf(copy, JN_SECTION_TRIANGLES))[5] = 24;
    ExpectRefusal(copy, "TRIS", "index 5");
    copy = CopyFile();
    ((uint32_t*)SectionOf(copy, JN_SECTION_RINGS))[0] = 8;
    ExpectRefusal(copy, "RNGF", "entry 0");
    copy = CopyFile();
    ((float*)SectionOf(copy, JN_SECTION_STIFFNESS))[3] = -1;
    ExpectRefusal(copy, "STIF", "number 3");
    copy = CopyFile();
    ((jnAssetClipEntry*)SectionOf(copy, JN_SECTION_CLIPS))->data = UINT64_MAX - 5;
    ExpectRefusal(copy, "nod", "beyond");
    copy = CopyFile();
    ((float*)SectionOf(copy, JN_SECTION_CLIP_DATA))[11] = 3;
    ExpectRefusal(copy, "nod", "frame 1, joint 0");
}

static jnNetworkHead* NetworkOf(char* copy)
{
    return SectionOf(copy, JN_SECTION_NETWORK);
}

// The arrays of a copy's network, to be damaged.
static jnNetwork ViewOf(char* copy)
{
    jnNetwork view;
    jnPlaceNetwork(NetworkOf(copy), NetworkOf(copy), 8, &view);
    return view;
}
#define SET(type, pointer, value) (*(type*)(uintptr_t)(pointer) = (value))

static void DamageOfANetworkIsNamed(void** state)
{
    (void)state;
    char* copy = CopyFile();
    NetworkOf(copy)->kind = 3;
    ExpectRefusal(copy, "NETW", "kind is 3");
    copy = CopyFile();
    NetworkOf(copy)->sizes[1] = 0;
    ExpectRefusal(copy, "NETW", "size of a layer");
    copy = CopyFile();
    NetworkOf(copy)->sizes[1] = 200;
    ExpectRefusal(copy, "NETW", "counts ask for");
    copy = CopyFile();
    NetworkOf(copy)->componentCount = 514;
    ExpectRefusal(copy, "NETW", "components is 514");
    copy = CopyFile();
    NetworkOf(copy)->unit = NAN;
    ExpectRefusal(copy, "NETW", "unit");
    copy = CopyFile();
    NetworkOf(copy)->reserved[6] = 1;
    ExpectRefusal(copy, "NETW", "reserved");
    copy = CopyFile();
    SET(int32_t, ViewOf(copy).inputs, 3); // of the root, which has no parent
    ExpectRefusal(copy, "NETW", "an input is 3");
    copy = CopyFile();
    SET(float, ViewOf(copy).weights[0], HUGE_VALF);
    ExpectRefusal(copy, "NETW", "a weight is inf");
    copy = CopyFile();
    SET(float, ViewOf(copy).biases[1], NAN);
    ExpectRefusal(copy, "NETW", "a bias");
    copy = CopyFile();
    SET(int32_t, ViewOf(copy).firsts[1], 2);
    ExpectRefusal(copy, "NETW", "run of a block's inputs is 2");
}

static jnAssetPatch* PatchOf(char* copy, int patch)
{
    uint64_t places[JN_MORPH_ARRAYS + 1];
    jnAssetMorphsHeader* h = SectionOf(copy, JN_SECTION_MORPHS);
    jnPlaceMorphs(h, 1, places);
    return (jnAssetPatch*)(void*)((char*)h + places[0]) + patch;
}

static void DamageOfMorphTargetsIsNamed(void** state)
{
    (void)state;
    char* copy = CopyFile();
    jnAssetMorphsHeader* h = SectionOf(copy, JN_SECTION_MORPHS);
    uint64_t places[JN_MORPH_ARRAYS + 1];
    jnPlaceMorphs(h, 1, places);
    assert_true(h->listCount > 0 && h->shapeCount > 0);
    h->modeCount = -1;
    ExpectRefusal(copy, "MRPH", "counts that can be");
    copy = CopyFile();
    h = SectionOf(copy, JN_SECTION_MORPHS);
    h->runCount += 4;
    ExpectRefusal(copy, "MRPH", "counts ask for");
    copy = CopyFile();
    PatchOf(copy, 0)->columns = 1;
    ExpectRefusal(copy, "MRPH", "follow each other");
    copy = CopyFile();
    PatchOf(copy, 1)->columns += 2; // beyond the list
    ExpectRefusal(copy, "MRPH", "follow each other");
    copy = CopyFile();
    PatchOf(copy, 1)->shapes -= JN_SHAPE_STEP; // other values than it has room for
    ExpectRefusal(copy, "MRPH", "follow each other");
    copy = CopyFile();
    SET(uint16_t, (char*)SectionOf(copy, JN_SECTION_MORPHS) + places[1], 99);
    ExpectRefusal(copy, "MRPH", "of no column");
    copy = CopyFile();
    SET(float, (char*)SectionOf(copy, JN_SECTION_MORPHS) + places[2], NAN);
    ExpectRefusal(copy, "MRPH", "no scale");
}

// The file of this group has a pca; here is one with a map.
static void AMapIsCheckedAsWell(void** state)
{
    void* before = bytes;
    size_t sizeBefore = size;
    assert_int_equal(MakeFileWith(jn_networkCnn), 0);
    AFileCutAnywhereIsRefused(state);
    ADamagedFileWithTheRightChecksumDoesNoHarm(state);
    char* copy = CopyFile();
    NetworkOf(copy)->channels[1] = 4;
    ExpectRefusal(copy, "NETW", "map's channels is 4");
    copy = CopyFile();
    NetworkOf(copy)->firstSize = 1 << 30;
    ExpectRefusal(copy, "NETW", "size of the map");
    copy = CopyFile();
    SET(float, ViewOf(copy).lookups, 7.0f);
    ExpectRefusal(copy, "NETW", "place on the map is 7");
    copy = CopyFile();
    SET(float, ViewOf(copy).kernels[0], NAN);
    ExpectRefusal(copy, "NETW", "a weight");
    copy = CopyFile();
    SET(uint32_t, ViewOf(copy).lookupStarts + 1, 4000000000u);
    ExpectRefusal(copy, "NETW", "start of a run");
    free(bytes);
    bytes = before;
    size = sizeBefore;
}

static void AnUnknownSectionThatIsOptionalIsSkipped(void** state)
{
    (void)state;
    char* copy = CopyFile();
    EntryOf(copy, JN_SECTION_UVS)->id = JN_SECTION_ID('X', 'X', 'X', 'X');
    FixChecksum(copy);
    jnAsset* a;
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &a, NULL), jn_ok);
    assert_null(a->uvs);
    jnDestroyAsset(a);
    free(copy);
}

static void* Refuse(size_t length, void* user)
{
    (void)length;
    ++*(int*)user;
    return NULL;
}

static void WithoutMemoryLoadingFailsCleanly(void** state)
{
    (void)state;
    int asked = 0;
    jnAsset* asset;
    jnError error = {0};
    jnAssetDef def = {.bytes = bytes, .size = size, .allocator = {.allocate = Refuse, .user = &asked}};
    assert_int_equal(jnLoadAsset(&def, &asset, &error), jn_outOfMemory);
    assert_null(asset);
    assert_int_equal(asked, 1); // one allocation is all there is
}

static void RigidVerticesGoLastAndTheFileStaysAsItIs(void** state)
{
    (void)state;
    jnaCharacter figure;
    assert_int_equal(jnaCreateFigure(&figure, NULL), jn_ok);
    size_t count = (size_t)figure.vertexCount;
    float* springs = malloc(2 * count * sizeof(float));
    jnaHandSprings hand = jnaDefaultHandSprings();
    assert_int_equal(jnaSetHandSprings(&figure, &hand, springs, springs + count, NULL), jn_ok);
    int soft = 0;
    for (size_t v = 0; v < count; ++v) {
        bool rigid = figure.positions[3 * v + 1] > 1.0f;
        springs[v] = rigid ? 1e6f : springs[v];
        soft += !rigid;
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &figure;
    def.stiffness = springs;
    def.damping = springs + count;
    def.rigidHertz = 50;
    void* file;
    size_t length;
    jnAsset* a;
    assert_int_equal(jnaEncodeAsset(&def, &file, &length, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = file, .size = length}, &a, NULL), jn_ok);
    assert_int_equal(a->springCount, (soft + 15) / 16 * 16);
    assert_int_equal(a->normalCount, a->vertexCount); // the figure is smooth, across its UV seams too
    for (int f = 0; f < a->fileVertexCount; ++f) {
        int v = a->weld[f];
        assert_int_equal(a->order[v], figure.weld[f]);
        assert_memory_equal(a->rest + 4 * v, figure.positions + 3 * figure.weld[f], 3 * sizeof(float));
        assert_true(v < a->springCount || figure.positions[3 * figure.weld[f] + 1] > 1.0f);
        assert_int_equal(a->fileNormals[f], v);
    }
    jnDestroyAsset(a);
    free(file);
    free(springs);
    jnaDestroyCharacter(&figure);
}

static void WhatTheReaderWouldRefuseIsNotWritten(void** state)
{
    (void)state;
    Box* box = MakeBox();
    jnError error = {0};
    void* file;
    size_t length;
    box->stiffness[2] = NAN;
    assert_int_equal(jnaEncodeAsset(&box->def, &file, &length, &error), jn_badData);
    assert_non_null(strstr(error.message, "STIF"));
    box->stiffness[2] = 1;
    box->character.weld[3] = 8;
    assert_int_equal(jnaEncodeAsset(&box->def, &file, &length, &error), jn_badArgument);
    assert_null(file);
    DestroyBox(box);
}

static void HandSetSpringsMixByWeightAndMask(void** state)
{
    (void)state;
    Box* box = MakeBox();
    float stiffness[8], damping[8], mask[8] = {1, 1, 1, 1, 0, 1, 1, 1};
    jnaJointSpring upper = {"upper", 8, 0.5f};
    jnaHandSprings hand = {.hertz = 2, .ratio = 0.1f, .joints = &upper, .jointCount = 1, .mask = mask};
    jnError error = {0};
    assert_int_equal(jnaSetHandSprings(&box->character, &hand, stiffness, damping, &error), jn_ok);
    double tau = 2 * 3.14159265358979, mixed = 2 * pow(4, 0.75); // vertex 2 is 3/4 on the upper joint
    ASSERT_NEAR(stiffness[0], pow(tau * 2, 2), 1e-3);
    ASSERT_NEAR(damping[0], 2 * 0.1 * tau * 2, 1e-5);
    ASSERT_NEAR((double)stiffness[2] / pow(tau * mixed, 2), 1, 1e-5);
    ASSERT_NEAR((double)damping[2] / (2 * (0.25 * 0.1 + 0.75 * 0.5) * tau * mixed), 1, 1e-5);
    ASSERT_NEAR((double)stiffness[4] / pow(tau * (double)JNA_RIGID_HERTZ, 2), 1, 1e-5);
    upper.joint = "tail";
    assert_int_equal(jnaSetHandSprings(&box->character, &hand, stiffness, damping, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "tail"));
    hand.jointCount = 0;
    hand.hertz = 0;
    assert_int_equal(jnaSetHandSprings(&box->character, &hand, stiffness, damping, &error), jn_badArgument);
    DestroyBox(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsWrittenIsRead),
        cmocka_unit_test(ClipsAreSampledBetweenFramesAndAroundTheirEnd),
        cmocka_unit_test(ClipsHaveAVelocityAtTheirFrames),
        cmocka_unit_test(BytesThatAreNotAlignedAreCopied),
        cmocka_unit_test(AFileCutAnywhereIsRefused),
        cmocka_unit_test(AnyByteFlippedIsRefused),
        cmocka_unit_test(ADamagedFileWithTheRightChecksumDoesNoHarm),
        cmocka_unit_test(EveryKindOfDamageIsNamed),
        cmocka_unit_test(DamageOfANetworkIsNamed),
        cmocka_unit_test(DamageOfMorphTargetsIsNamed),
        cmocka_unit_test(AMapIsCheckedAsWell),
        cmocka_unit_test(AnUnknownSectionThatIsOptionalIsSkipped),
        cmocka_unit_test(WithoutMemoryLoadingFailsCleanly),
        cmocka_unit_test(RigidVerticesGoLastAndTheFileStaysAsItIs),
        cmocka_unit_test(WhatTheReaderWouldRefuseIsNotWritten),
        cmocka_unit_test(HandSetSpringsMixByWeightAndMask),
    };
    return cmocka_run_group_tests(tests, MakeFile, FreeFile);
}
