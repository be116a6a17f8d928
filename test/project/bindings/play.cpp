// play.c through jounce.hpp. Prints how often memory was asked for in its steps, and fails where it was.
#include <jounce/jounce.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

static long asked;
void* operator new(std::size_t size)
{
    ++asked;
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        std::abort();
    }
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

static_assert(!std::is_copy_constructible_v<jounce::Character> && std::is_move_constructible_v<jounce::Character>);
static_assert(!std::is_copy_constructible_v<jounce::Asset> && std::is_move_assignable_v<jounce::Asset>);

static std::vector<std::byte> read(const char* path)
{
    std::vector<std::byte> bytes;
    std::FILE* file = std::fopen(path, "rb");
    for (int c = file != nullptr ? std::fgetc(file) : EOF; c != EOF; c = std::fgetc(file)) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return bytes;
}

template <typename T> static void write(std::FILE* out, const std::vector<T>& values)
{
    std::fwrite(values.data(), sizeof(T), values.size(), out);
}

int main(int argc, char** argv)
{
    jounce::Error error;
    const std::vector<std::byte> bytes = read(argc == 5 ? argv[1] : ""), more = read(argc == 5 ? argv[2] : "");
    std::vector<std::byte> damaged = bytes;
    if (argc != 5 || bytes.size() < 100) {
        return 2;
    }
    damaged[bytes.size() / 2] ^= std::byte{1};
    if (jounce::Asset::load(damaged, error) || !error || error.message[0] == '\0') {
        std::puts("a damaged file was loaded");
        return 1;
    }
    jounce::Asset asset = jounce::Asset::load(bytes, error), clips = jounce::Asset::load(more, error);
    jounce::Character first = jounce::Character::create(asset, error), character = std::move(first);
    if (first || !character || error) {
        std::puts(error.message);
        return 1;
    }
    const std::size_t joints = asset.jointCount(), numbers = 3 * asset.fileVertexCount();
    std::vector<float> rotations(4 * joints), translations(3 * joints), scales(3 * joints);
    std::vector<float> weights(asset.weightCount()), rates(asset.weightCount()), positions(numbers), normals(numbers);
    jounce::Output output;
    output.weights = weights;
    output.weightRates = rates;
    output.positions = positions;
    output.normals = normals;
    const int clip = clips.findClip(argv[3]);
    std::FILE* out = std::fopen(argv[4], "wb");
    long before = asked;
    bool good = true;
    for (int f = 0; f < 60; ++f) {
        const float place = static_cast<float>(f);
        jnTransform root = {{0.01f * place, 0.0f, 0.02f * place}, {0.0f, 0.0f, 0.0f, 1.0f}};
        jounce::Input input;
        input.h = 1.0f / 30;
        good = good && clips.sampleClip(clip, f / 30.0, rotations, translations, scales);
        input.pose.rotations = rotations;
        input.pose.translations = translations;
        input.pose.scales = scales;
        input.pose.root = &root;
        if (f == 20) {
            character.addImpulse(3, {0.5f, 1.0f, -0.25f});
        }
        if (f == 40) {
            character.setLevel(0, 8, 0.2f);
        }
        good = good && character.step(input, output);
        if (f % 7 == 6) {
            good = good && character.evaluate(0.5f, output);
        }
        const jnCharacterReport report = character.describe();
        write(out, weights);
        write(out, rates);
        write(out, positions);
        write(out, normals);
        std::fwrite(&report.kinetic, 8, 1, out);
        std::fwrite(&report.steps, 4, 1, out);
    }
    std::fclose(out);
    float small[1] = {0};
    jounce::Output tooShort;
    tooShort.weights = small;
    if (!good || character.step(jounce::Input{}, tooShort) || small[0] != 0 || asked != before) {
        std::printf("steps failed, a short span was taken, or memory was asked for %ld times\n", asked - before);
        return 1;
    }
    return 0;
}
