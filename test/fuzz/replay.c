// A fuzz target without libFuzzer: runs it on every file of the folders that are named, and on EDITS copies of each
// with some numbers changed, the same at every run.
//
//   replay_TARGET EDITS FOLDER|FILE ...
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static uint32_t state = 1;
static long inputs;

static uint32_t Random(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// One to four numbers of four bytes become another: small, large, negative, not finite.
static void Edit(uint8_t* data, size_t size)
{
    static const uint32_t odd[] = {
        0, 1, 2, 7, 64, 255, 65535, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0x7fc00000, 0xbf800000, 0x7f7fffff};
    uint32_t edits = 1 + Random() % 4;
    for (uint32_t i = 0; i < edits && size >= 4; ++i) {
        // Half of them in the head, where the counts are.
        size_t range = Random() % 2 == 0 && size > 2048 ? 2048 : size;
        size_t at = Random() % (range / 4) * 4;
        uint32_t value = Random() % 3 == 0 ? Random() : odd[Random() % (sizeof(odd) / sizeof(odd[0]))];
        memcpy(data + at, &value, 4);
    }
}

static void RunFile(const char* path, long edits)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot read\n", path);
        exit(1);
    }
    size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size + 1), *copy = malloc(size + 1);
    rewind(file);
    if (bytes == NULL || copy == NULL || fread(bytes, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot read\n", path);
        exit(1);
    }
    fclose(file);
    for (long i = 0; i <= edits; ++i) {
        memcpy(copy, bytes, size);
        if (i > 0) {
            Edit(copy, size);
        }
        LLVMFuzzerTestOneInput(copy, i > 0 && Random() % 16 == 0 ? Random() % (size + 1) : size);
        inputs++;
    }
    free(bytes);
    free(copy);
}

int main(int argc, char** argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s EDITS FOLDER|FILE ...\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        DIR* folder = opendir(argv[i]);
        if (folder == NULL) {
            RunFile(argv[i], atol(argv[1]));
            continue;
        }
        for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.') {
                RunFile(path, atol(argv[1]));
            }
        }
        closedir(folder);
    }
    printf("%ld inputs\n", inputs);
    return 0;
}
