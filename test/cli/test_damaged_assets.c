// Every section of an asset with a wrong number in it: words at its beginning and all through it become zero, small,
// large, negative and not finite, its place and size are moved. Each file is refused with a sentence, or it plays with
// finite numbers; and no section takes everything. The file has every section that an export of flesh with faces has.
#include "helpers/command.h"
#include "helpers/dressed_gltf.h"

#include "jounce/character.h"
#include "runtime/asset_format.h"
#include "runtime/for_author.h"
#include "runtime/internal.h"

enum { WORDS = 32, FRAMES = 2, LARGEST_CHARACTER = 1 << 26 };

static char *good, *copy;
static size_t size;
static float* shown;
static size_t shownFloats;
static int refused, played;

static int MakeAsset(void** state)
{
    static Outcome outcome;
    const DressedDef def = {.body = true, .sleeve = true, .moves = true, .morphs = true};
    if (EnterScratchFolder(state) != 0 ||
        RunInto(&outcome, "new t --from '%s' --part Sleeve=follows", WriteDressed("damaged", &def)) != 0 ||
        RunInto(&outcome, "build t --until modes") != 0 || RunInto(&outcome, "export t -o t.jounce") != 0) {
        return -1;
    }
    FILE* file = fopen("t.jounce", "rb");
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    good = aligned_alloc(JN_ALIGNMENT, size);
    copy = aligned_alloc(JN_ALIGNMENT, size);
    bool read = good != NULL && copy != NULL && fread(good, 1, size, file) == size;
    fclose(file);
    return read ? 0 : -1;
}

static int Leave(void** state)
{
    free(good);
    free(copy);
    free(shown);
    return LeaveScratchFolder(state);
}

static void Play(const jnAsset* asset, const char* what)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* character;
    jnError error;
    if (jnCharacter_ByteCount(&def) > LARGEST_CHARACTER || jnCreateCharacter(&def, &character, &error) != jn_ok) {
        return;
    }
    size_t joints = (size_t)asset->jointCount, wide = 3 * (size_t)asset->fileVertexCount;
    float* pose = calloc(10 * joints, sizeof(float));
    if (shownFloats < wide) {
        shown = realloc(shown, wide * sizeof(float));
        shownFloats = wide;
    }
    assert_true(pose != NULL && shown != NULL);
    for (int frame = 0; frame < FRAMES; ++frame) {
        jnCharacterInput input = {.h = 1.0f / 30};
        if (asset->clipCount > 0) {
            jnAsset_SampleClip(asset, asset->clipCount - 1, frame / 30.0, pose, pose + 4 * joints, pose + 7 * joints);
            input.pose = (jnPose){.rotations = pose, .translations = pose + 4 * joints, .scales = pose + 7 * joints};
        }
        jnCharacterOutput output = {.positions = shown};
        jnCharacter_Step(character, &input, &output);
        for (size_t i = 0; i < wide; ++i) {
            if (!isfinite(shown[i])) {
                fail_msg("%s: number %zu of frame %d is %g", what, i, frame, (double)shown[i]);
            }
        }
    }
    free(pose);
    jnDestroyCharacter(character);
}

// The copy, with its checksum set right. Afterwards it is good again.
static bool TryCopy(const char* what)
{
    jnAsset* asset;
    jnError error = {0};
    const uint64_t none = 0;
    memcpy(copy + offsetof(jnAssetHeader, checksum), &none, sizeof(none));
    uint64_t checksum = jnAssetChecksum(copy, size);
    memcpy(copy + offsetof(jnAssetHeader, checksum), &checksum, sizeof(checksum));
    bool loads = jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &asset, &error) == jn_ok;
    if (loads) {
        Play(asset, what);
        jnDestroyAsset(asset);
    } else if (error.message[0] == '\0') {
        fail_msg("%s: refused without a word", what);
    }
    refused += !loads;
    played += loads;
    memcpy(copy, good, size);
    return loads;
}

static const jnAssetEntry* EntryOf(int section)
{
    return (const jnAssetEntry*)(const void*)(good + sizeof(jnAssetHeader)) + section;
}

// How many of the damaged files are refused.
static int DamageWords(const jnAssetEntry* entry, const char* name)
{
    static const uint32_t odd[] = {0, 3, 0x7fffffff, 0xffffffff, 0x7f800000, 0xc7c35000};
    size_t words = (size_t)entry->size / 4, before = (size_t)refused;
    for (size_t i = 0; i < WORDS && i < words; ++i) {
        // The first half of them in order, which is where counts are; then through all of it.
        size_t at = i < WORDS / 2 ? i : i * words / WORDS;
        for (size_t k = 0; k < sizeof(odd) / sizeof(odd[0]); ++k) {
            char what[96];
            snprintf(what, sizeof(what), "section %s, word %zu is %08x", name, at, odd[k]);
            memcpy(copy + entry->offset + 4 * at, &odd[k], 4);
            TryCopy(what);
        }
    }
    return refused - (int)before;
}

static void NoSectionTakesEverythingAndNothingThatItTakesIsNotFinite(void** state)
{
    (void)state;
    int sections = (int)((const jnAssetHeader*)(const void*)good)->sectionCount, bounds = 0, targets = 0;
    memcpy(copy, good, size);
    assert_true(TryCopy("nothing changed"));
    for (int s = 0; s < sections; ++s) {
        const jnAssetEntry* entry = EntryOf(s);
        char name[5] = {0};
        memcpy(name, &entry->id, 4);
        bounds += strcmp(name, "BOND") == 0;
        targets += strcmp(name, "TARG") == 0;
        int count = DamageWords(entry, name);
        if (count == 0) {
            fail_msg("section %s takes every number", name);
        }
    }
    assert_true(bounds == 1 && targets == 1);
    print_message("%d sections: %d files refused, %d played\n", sections, refused, played);
}

static void ASectionThatIsElsewhereOrOfAnotherSizeIsRefused(void** state)
{
    (void)state;
    int sections = (int)((const jnAssetHeader*)(const void*)good)->sectionCount;
    for (int s = 0; s < sections; ++s) {
        static const int64_t steps[] = {-64, -4, -1, 1, 4, 64, 1 << 20, INT64_MIN};
        for (size_t k = 0; k < 2 * sizeof(steps) / sizeof(steps[0]); ++k) {
            jnAssetEntry entry = *EntryOf(s);
            bool place = k % 2 == 0;
            uint64_t* number = place ? &entry.offset : &entry.size;
            *number += (uint64_t)steps[k / 2];
            memcpy(copy + sizeof(jnAssetHeader) + (size_t)s * sizeof(entry), &entry, sizeof(entry));
            char what[64];
            snprintf(what, sizeof(what), "section %.4s, %s", (const char*)&entry.id, place ? "place" : "size");
            bool loads = TryCopy(what);
            // What is read as something else may still be numbers. Sizes follow from counts, but for the data of clips,
            // in which each clip has its place.
            if (loads && !place && entry.id != JN_SECTION_CLIP_DATA) {
                fail_msg("section %.4s is taken with %+lld bytes", (const char*)&entry.id, (long long)steps[k / 2]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NoSectionTakesEverythingAndNothingThatItTakesIsNotFinite),
        cmocka_unit_test(ASectionThatIsElsewhereOrOfAnotherSizeIsRefused),
    };
    return cmocka_run_group_tests(tests, MakeAsset, Leave);
}
