// jounce picture --sheet: the previews that builds left, as one contact sheet.
#include "base/arena.h"
#include "base/try.h"
#include "cli.h"
#include "draw/preview_picture.h"
#include "picture.h"
#include "pipeline/inspection_store.h"
#include "surface.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Tiles of a row, and pixels above each for its name.
enum { COLUMNS = 6, BAND = 40, GAP = 6, MOST_TILES = 400 };

typedef struct Tiles {
    int count;
    jnaPicture* pictures;        // [count]
    char (*names)[NAME_MAX + 1]; // [count], of the workspaces
    jnaArena arena;
} Tiles;

static void DestroyTiles(Tiles* t)
{
    for (int i = 0; t->pictures != NULL && i < t->count; ++i) {
        jnaDestroyPicture(&t->pictures[i]);
    }
    jnaReleaseArena(&t->arena);
}

static int CompareNames(const void* a, const void* b)
{
    return strcmp(a, b);
}

// Workspaces of the folder that have a preview, by name.
static jnResult FindTiles(const char* folder, Tiles* t, jnError* error)
{
    char path[PATH_MAX];
    t->names = jnaArena_Take(&t->arena, MOST_TILES, sizeof(*t->names));
    t->pictures = jnaArena_Take(&t->arena, MOST_TILES, sizeof(*t->pictures));
    JN_PASS(jnaArena_Check(&t->arena, "a contact sheet", error));
    DIR* open = opendir(folder);
    for (struct dirent* entry; open != NULL && (entry = readdir(open)) != NULL && t->count < MOST_TILES;) {
        int length = snprintf(path, sizeof(path), "%s/%s/" JNA_PREVIEW_NAME, folder, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof(path) && access(path, R_OK) == 0) {
            snprintf(t->names[t->count++], sizeof(*t->names), "%s", entry->d_name);
        }
    }
    if (open != NULL) {
        closedir(open);
    }
    qsort(t->names, (size_t)t->count, sizeof(*t->names), CompareNames);
    return t->count > 0
               ? jn_ok
               : jnFail(error, jn_ioFailed,
                     "%s: cannot read a workspace in it that has a " JNA_PREVIEW_NAME "; jounce build makes it",
                     folder);
}

static jnResult LoadTile(const char* folder, Tiles* t, int i, jnError* error)
{
    char path[PATH_MAX];
    jnaPicture preview;
    if (snprintf(path, sizeof(path), "%s/%s/" JNA_PREVIEW_NAME, folder, t->names[i]) >= (int)sizeof(path)) {
        return jnFail(error, jn_ioFailed, "%s: the path is too long", folder);
    }
    JN_PASS(jnaReadPicture(path, &preview, error));
    jnResult result = jnaPreview_Stack(&preview, &t->pictures[i], error);
    jnaDestroyPicture(&preview);
    return result;
}

// The workspace's name over what its build saw.
static jnResult WriteNames(const char* folder, const Tiles* t, int i, int x, int y, jnaPicture* sheet, jnError* error)
{
    char path[PATH_MAX], line[128];
    const jnaTextStyle name = {15, jna_textLeft, 0x202020}, figures = {12, jna_textLeft, 0x505050};
    json_t* root =
        snprintf(path, sizeof(path), "%s/%s", folder, t->names[i]) < (int)sizeof(path) ? jncLoadSurface(path) : NULL;
    snprintf(line, sizeof(line), "%lld flipped, %.2f torn in a million",
        (long long)json_integer_value(json_object_get(root, "flipped")),
        json_number_value(json_object_get(root, "torn_in_a_million")));
    json_decref(root);
    JN_PASS(jnaPicture_Text(sheet, x + 4, y + 16, &name, t->names[i], error));
    return jnaPicture_Text(sheet, x + 4, y + 33, &figures, line, error);
}

// Tiles of one height each, in rows that are as wide as their tiles.
static jnResult Compose(const char* folder, const Tiles* t, jnaPicture* sheet, jnError* error)
{
    int width = 0, height = 0, x = 0, y = 0;
    for (int i = 0; i < t->count; ++i) {
        width = t->pictures[i].width > width ? t->pictures[i].width : width;
        height = t->pictures[i].height > height ? t->pictures[i].height : height;
    }
    int columns = t->count < COLUMNS ? t->count : COLUMNS, rows = (t->count + COLUMNS - 1) / COLUMNS;
    *sheet = (jnaPicture){.width = columns * (width + GAP), .height = rows * (height + BAND)};
    size_t stride = 4 * (size_t)sheet->width;
    sheet->pixels = malloc(stride * (size_t)sheet->height);
    if (sheet->pixels == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a contact sheet");
    }
    memset(sheet->pixels, 255, stride * (size_t)sheet->height);
    for (int i = 0; i < t->count; ++i) {
        const jnaPicture* tile = &t->pictures[i];
        x = i % COLUMNS * (width + GAP);
        y = i / COLUMNS * (height + BAND);
        for (int row = 0; row < tile->height; ++row) {
            memcpy(sheet->pixels + stride * (size_t)(y + BAND + row) + 4 * (size_t)x,
                tile->pixels + 4 * (size_t)row * (size_t)tile->width, 4 * (size_t)tile->width);
        }
        JN_PASS(WriteNames(folder, t, i, x, y, sheet, error));
    }
    return jn_ok;
}

int jncPicture_Sheet(const char* folder, const char* output)
{
    Tiles tiles = {0};
    jnaPicture sheet = {0};
    jnError error = {0};
    jnResult result = jn_ok;
    JN_TRY(FindTiles(folder, &tiles, &error));
    for (int i = 0; i < tiles.count; ++i) {
        JN_TRY(LoadTile(folder, &tiles, i, &error));
    }
    JN_TRY(Compose(folder, &tiles, &sheet, &error));
    JN_TRY(jncWritePictures(&sheet, 1, tiles.count, 1, output, &error));
done:
    jnaDestroyPicture(&sheet);
    DestroyTiles(&tiles);
    return jncEnd(result, &error);
}
