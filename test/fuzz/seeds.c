// Writes the corpus that the fuzz targets begin with: FOLDER/TARGET/*, a few small valid inputs each.
//
//   fuzz_seeds FOLDER [ASSET.jounce ...]
#include "base/npy.h"
#include "character/mesh_cache.h"
#include "character/scene.h"
#include "helpers/small_gltf.h"
#include "seed_assets.h"
#include "workspace/manifest.h"

#include <sys/stat.h>
#include <unistd.h>

static const char* corpus;

// A file FOLDER/TARGET/NAME; the first byte is for the target to choose by, -1: none.
static FILE* Begin(const char* target, const char* name, int choice)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", corpus, target);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/%s/%s", corpus, target, name);
    FILE* file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot write\n", path);
        exit(1);
    }
    if (choice >= 0) {
        fputc(choice, file);
    }
    return file;
}

static void Copy(const char* target, const char* name, int choice, const char* from)
{
    FILE *in = fopen(from, "rb"), *out = Begin(target, name, choice);
    for (int c; in != NULL && (c = fgetc(in)) != EOF;) {
        fputc(c, out);
    }
    if (in != NULL) {
        fclose(in);
    }
    fclose(out);
}

static void Text(const char* target, const char* name, int choice, const char* text)
{
    FILE* out = Begin(target, name, choice);
    fputs(text, out);
    fclose(out);
}

static void WriteArrays(void)
{
    const float numbers[2][3][3] = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
    const int32_t indices[] = {0, 1, 2};
    const char* path = "seed.npy";
    jnaWriteArray(path, jna_float32, 3, (size_t[]){2, 3, 3}, numbers, NULL);
    Copy("npy", "float", -1, path);
    Copy("cache", "npy", 2, path);
    jnaWriteArray(path, jna_float32, 2, (size_t[]){3, 3}, numbers, NULL);
    Copy("arrays", "positions", 1, path);
    jnaWriteArray(path, jna_int32, 1, (size_t[]){3}, indices, NULL);
    Copy("npy", "int", -1, path);
    Copy("arrays", "weld", 2, path);
    jnaWriteArray(path, jna_int32, 2, (size_t[]){1, 3}, indices, NULL);
    Copy("arrays", "triangles", 4, path);
    jnaWriteArray(path, jna_float64, 0, NULL, (double[]){1}, NULL);
    Copy("npy", "one", -1, path);
    unlink(path);
    Text("arrays", "clip", 7,
        "{\"format\": 1, \"name\": \"walk\", \"rate\": 30.0, \"frames\": 2, \"joints\": 1, \"looping\": false, "
        "\"scales\": false, \"motion\": false}");
    Text("arrays", "character", 0,
        "{\"format\": 1, \"name\": \"small\", \"scale\": 1.0, \"vertices\": 3, \"file_vertices\": 3, \"triangles\": 1, "
        "\"uvs\": false, \"parts\": [{\"name\": \"p\", \"material\": \"\", \"color\": [1,1,1,1], \"first_triangle\": "
        "0, "
        "\"triangle_count\": 1}], \"joints\": [{\"name\": \"root\", \"parent\": -1, \"translation\": [0,0,0], "
        "\"rotation\": [0,0,0,1], \"scale\": [1,1,1], \"inverse_bind\": [1,0,0,0,0,1,0,0,0,0,1,0]}], "
        "\"attributes\": []}");
}

static void WriteCaches(void)
{
    const uint32_t header[] = {1, 3, 0, 0x3f800000, 2};
    const float numbers[18] = {0.5f, 1, 2};
    FILE* out = Begin("cache", "pc2", 0);
    fwrite("POINTCACHE2", 1, 12, out);
    fwrite(header, 4, 5, out);
    fwrite(numbers, 4, 18, out);
    fclose(out);
    out = Begin("cache", "mdd", 1);
    fwrite("\0\0\0\2\0\0\0\2\0\0\0\0\x3d\0\0\0", 1, 16, out);
    fwrite(numbers, 4, 12, out);
    fclose(out);
}

static void WriteMeshes(void)
{
    const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, uvs[6] = {0, 0, 1, 0, 0, 1};
    const int32_t triangle[] = {0, 1, 2};
    const jnaMeshCacheDef def = {.name = "flesh",
        .frameCount = 2,
        .pointCount = 3,
        .triangleCount = 1,
        .triangles = triangle,
        .uvs = uvs,
        .withNormals = true,
        .rate = 30,
        .metresPerUnit = 1,
        .upAxis = JNA_UP_Y};
    jnaMeshCacheFile file;
    if (jnaCreateAlembic("seed.abc", &def, &file, NULL) != jn_ok ||
        jnaAlembic_AddFrame(&file, points, points, NULL) != jn_ok ||
        jnaAlembic_AddFrame(&file, points, points, NULL) != jn_ok || jnaAlembic_Commit(&file, NULL) != jn_ok ||
        jnaCreateUsda("seed.usda", &def, &file, NULL) != jn_ok ||
        jnaUsda_AddFrame(&file, points, points, NULL) != jn_ok ||
        jnaUsda_AddFrame(&file, points, points, NULL) != jn_ok || jnaUsda_Commit(&file, NULL) != jn_ok) {
        fprintf(stderr, "cannot write the meshes\n");
        exit(1);
    }
    Copy("mesh", "alembic", 0, "seed.abc");
    Copy("mesh", "usda", 1, "seed.usda");
    unlink("seed.abc");
    unlink("seed.usda");
    Text("mesh", "obj", 3, "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3/1/1\n");
}

// Edits of a snapshot, calls with their numbers, and fields with their values: any bytes will do. Of fields three
// quarters are values that they may have.
static void WriteNumbers(void)
{
    for (int seed = 0; seed < 6; ++seed) {
        char name[32];
        snprintf(name, sizeof(name), "numbers%d", seed);
        FILE *edits = Begin("snapshot", name, seed), *calls = Begin("calls", name, seed + 4);
        FILE* fields = Begin("settings", name, -1);
        uint32_t state = 1 + (uint32_t)seed;
        for (int i = 0; i < 30 * (1 + 10 * seed); ++i) {
            state = state * 1664525 + 1013904223;
            fputc((int)(state >> 24), calls);
            fputc((int)(state >> 24) % (seed % 4 < 3 ? 219 : 256), fields);
            if (i < 9 * seed) {
                fputc((int)(state >> 16 & 255), edits);
            }
        }
        fclose(edits);
        fclose(calls);
        fclose(fields);
    }
}

static void WriteTexts(void)
{
    Text("bvh", "walk", -1,
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "JOINT leg\n{\nOFFSET 0 -1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\n"
        "MOTION\nFrames: 2\nFrame Time: .05\n0 1 0 10 20 30 1 2 3\n0 2 0 0 0 0 40 50 60\n");
    Text("http", "get", -1, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    Text("http", "two", -1, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    Text("http", "body", -1, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
    Text(
        "http", "chunks", -1, "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    jnaManifest manifest = jnaDefaultManifest();
    manifest.character = strdup("hero.glb");
    jnaWriteManifest("seed.yaml", &manifest, NULL);
    Copy("manifest", "default", -1, "seed.yaml");
    unlink("seed.yaml");
    jnaDestroyManifest(&manifest);
    Text("manifest", "clips", -1,
        "format: 1\ncharacter: hero.glb\nclips:\n  - name: walk\n    role: train\n    source: walk.bvh\n    frames: "
        "10\n"
        "springs:\n  mode: uniform\n");
}

static void WriteModels(void)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    const char* tube = WriteTube("fuzz", &def);
    FILE* scene = Begin("scene", "tube", -1);
    jnaWriteScene(tube, scene);
    fclose(scene);
    // The target of glTF makes the container itself: an odd byte, two of length, JSON, buffer.
    FILE *in = fopen(tube, "rb"), *out = Begin("gltf", "tube", 1);
    unsigned char head[20];
    if (in == NULL || fread(head, 1, sizeof(head), in) != sizeof(head)) {
        exit(1);
    }
    size_t length = (size_t)head[12] | (size_t)head[13] << 8;
    fwrite(head + 12, 1, 2, out);
    for (size_t i = 0; i < length; ++i) {
        fputc(fgetc(in), out);
    }
    fseek(in, 8, SEEK_CUR);
    for (int c; (c = fgetc(in)) != EOF;) {
        fputc(c, out);
    }
    fclose(in);
    fclose(out);
    Text("gltf", "text", 0,
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"uri\":\"data:application/octet-stream;base64,AAAAAAAAAAA=\","
        "\"byteLength\":8}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":8}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5121,\"count\":2,\"type\":\"VEC4\"}],\"nodes\":[{\"mesh\":0,\"skin\":0}],\"skins\":[{"
        "\"joints\":[0]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"JOINTS_0\":0}}]}]}");
}

// The three of the platforms' tests: every layer, without a file of the disk.
static void WriteAssets(void)
{
    for (int kind = 0; kind < SEED_ASSETS; ++kind) {
        char name[32];
        size_t size;
        char* bytes = MakeSeedAsset(kind, &size);
        snprintf(name, sizeof(name), "golden%d", kind);
        FILE* out = Begin("asset", name, -1);
        fwrite(bytes, 1, size, out);
        fclose(out);
        free(bytes);
    }
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER [ASSET.jounce ...]\n");
        return 2;
    }
    corpus = argv[1];
    mkdir(corpus, 0777);
    WriteArrays();
    WriteCaches();
    WriteMeshes();
    WriteNumbers();
    WriteTexts();
    WriteModels();
    WriteAssets();
    for (int i = 2; i < argc; ++i) {
        char name[32];
        snprintf(name, sizeof(name), "asset%d", i);
        Copy("asset", name, -1, argv[i]);
    }
    return 0;
}
