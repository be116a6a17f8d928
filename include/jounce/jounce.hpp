// The runtime for C++17: objects that release themselves, spans in the place of pointer and length, no exceptions.
//
//     jounce::Error error;
//     jounce::Asset asset = jounce::Asset::load(bytes, error);          // the bytes stay valid while the asset lives
//     jounce::Character character = jounce::Character::create(asset, error);
//     if (!character) { log(error.message); }
//     each frame:
//     character.step({seconds, pose}, {.weights = weights});            // C++20; in C++17 fill an Output
//
// It is a header over jounce.h and adds nothing to a call but checks of lengths: where a span is too short the call
// returns false and does nothing. What is not here is called with get(), the C object.
#pragma once

#include "jounce/jounce.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#if defined(__has_include)
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif
#endif

namespace jounce {

/// A pointer and a length, as std::span of C++20, which it takes and gives.
template <typename T> class Span {
public:
    constexpr Span() = default;
    constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
    template <std::size_t N> constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
    /// Anything with data() and size(): std::vector, std::array, std::span.
    template <typename C, typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C&>().data()), T*>>>
    constexpr Span(C&& container) : data_(container.data()), size_(container.size())
    {
    }
    constexpr T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T& operator[](std::size_t i) const { return data_[i]; }
    constexpr T* begin() const { return data_; }
    constexpr T* end() const { return data_ + size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// The result of a call that can fail, and a sentence.
struct Error : jnError {
    Error() : jnError{} {}
    explicit operator bool() const { return code != jn_ok; } // true: it failed
};

namespace detail {
struct Destroy {
    void operator()(jnAsset* asset) const { jnDestroyAsset(asset); }
    void operator()(jnCharacter* character) const { jnDestroyCharacter(character); }
};
/// A span as a pointer; good becomes false where it is too short. An empty one is NULL.
template <typename T> T* need(Span<T> span, std::size_t count, bool& good)
{
    good = good && (span.empty() || span.size() >= count);
    return good && !span.empty() ? span.data() : nullptr;
}
} // namespace detail

/// A character file. All that are made from it are shared and read-only.
class Asset {
public:
    Asset() = default;
    /// bytes: the whole file; valid as long as the asset. An empty asset where it fails.
    static Asset load(Span<const std::byte> bytes, Error& error, const char* source = nullptr)
    {
        jnAssetDef def{};
        jnAsset* made = nullptr;
        def.bytes = bytes.data();
        def.size = bytes.size();
        def.source = source;
        error.code = jnLoadAsset(&def, &made, &error);
        Asset asset;
        asset.asset_.reset(made);
        return asset;
    }
    explicit operator bool() const { return asset_ != nullptr; }
    const jnAsset* get() const { return asset_.get(); }
    const jnAsset* operator->() const { return asset_.get(); }

    Span<const jnAssetJoint> joints() const { return {asset_->joints, count(asset_->jointCount)}; }
    Span<const jnAssetPart> parts() const { return {asset_->parts, count(asset_->parts != nullptr ? asset_->partCount : 0)}; }
    Span<const int32_t> triangles() const { return {asset_->triangles, 3 * count(asset_->triangleCount)}; }
    std::size_t weightCount() const { return count(asset_->weightCount); }
    std::size_t jointCount() const { return count(asset_->jointCount); }
    std::size_t fileVertexCount() const { return count(asset_->fileVertexCount); }
    int findClip(const char* name) const { return jnAsset_FindClip(get(), name); }
    jnAssetClip clip(int index) const { return jnAsset_Clip(get(), index); }

    /// The pose of a clip; false where an array is too short.
    bool sampleClip(int clip, double seconds, Span<float> rotations, Span<float> translations, Span<float> scales) const
    {
        bool good = rotations.size() >= 4 * jointCount() && translations.size() >= 3 * jointCount() &&
                    scales.size() >= 3 * jointCount();
        if (good) {
            jnAsset_SampleClip(get(), clip, seconds, rotations.data(), translations.data(), scales.data());
        }
        return good;
    }
    /// A morph target, [fileVertexCount][3]; false where the array is too short.
    bool morphDeltas(int weight, Span<float> deltas) const
    {
        bool good = deltas.size() >= 3 * fileVertexCount();
        if (good) {
            jnAsset_MorphDeltas(get(), weight, false, deltas.data());
        }
        return good;
    }
    /// Finds the joints among an engine's bones; returns how many.
    int matchBones(Span<const char* const> names, Span<jnBoneMatch> matches) const
    {
        return matches.size() >= jointCount()
                   ? jnAsset_MatchBones(get(), names.data(), static_cast<int>(names.size()), matches.data())
                   : 0;
    }

private:
    static std::size_t count(int number) { return number > 0 ? static_cast<std::size_t>(number) : 0; }
    std::unique_ptr<jnAsset, detail::Destroy> asset_;
};

/// Where the joints are: as jnPose, with lengths.
struct Pose {
    Span<const float> rotations;    // [jointCount][4]
    Span<const float> translations; // [jointCount][3]
    Span<const float> scales;       // [jointCount][3]
    Span<const float> matrices;     // [jointCount][12]
    Span<const float> targets;      // [targetCount]
    const jnTransform* root = nullptr;
    const double* origin = nullptr; // [3]
};

/// As jnCharacterInput.
struct Input {
    float h = 0;
    Pose pose;
    jnTeleport teleport = jn_teleportNone;
};

/// As jnCharacterOutput: what is empty is not asked for.
struct Output {
    Span<float> weights;     // [weightCount]
    Span<float> weightRates; // [weightCount]
    Span<float> positions;   // [fileVertexCount][3]
    Span<float> velocities;  // [fileVertexCount][3]
    Span<float> normals;     // [fileVertexCount][3]
};

/// A character. It can be moved, not copied; its asset must live longer.
class Character {
public:
    Character() = default;
    static Character create(const Asset& asset, Error& error) { return create(jnDefaultCharacterDef(asset.get()), error); }
    /// An empty character where it fails.
    static Character create(const jnCharacterDef& def, Error& error)
    {
        jnCharacter* made = nullptr;
        error.code = jnCreateCharacter(&def, &made, &error);
        Character character;
        character.character_.reset(made);
        return character;
    }
    explicit operator bool() const { return character_ != nullptr; }
    jnCharacter* get() const { return character_.get(); }
    const jnAsset* asset() const { return jnCharacter_Asset(get()); }

    /// One step; false, and nothing is done, where a span is too short.
    bool step(const Input& input, const Output& output = {})
    {
        jnCharacterInput in{};
        jnCharacterOutput out{};
        bool good = fill(input.pose, in.pose) && fill(output, out);
        in.h = input.h;
        in.teleport = input.teleport;
        if (good) {
            jnCharacter_Step(get(), &in, &out);
        }
        return good;
    }
    /// Starts anew on a pose.
    bool reset(const Pose& pose, const Output& output = {})
    {
        jnCharacterInput in{};
        jnCharacterOutput out{};
        bool good = fill(pose, in.pose) && fill(output, out);
        if (good) {
            jnCharacter_Reset(get(), &in, &out);
        }
        return good;
    }
    /// What the last step shows at a fraction of its interval.
    bool evaluate(float fraction, const Output& output) const
    {
        jnCharacterOutput out{};
        bool good = fill(output, out);
        if (good) {
            jnCharacter_Evaluate(get(), fraction, &out);
        }
        return good;
    }
    void setLevel(int components, int modes, float seconds) { jnCharacter_SetLevel(get(), components, modes, seconds); }
    void setForce(const float (&acceleration)[3]) { jnCharacter_SetForce(get(), acceleration); }
    void setCap(float distance) { jnCharacter_SetCap(get(), distance); }
    void addImpulse(int vertex, const float (&velocity)[3]) { jnCharacter_AddImpulse(get(), vertex, velocity); }
    jnCharacterReport describe() const
    {
        jnCharacterReport report{};
        jnCharacter_Describe(get(), &report, nullptr);
        return report;
    }
    /// The state as bytes: how many, and into a span; false where it is too short.
    std::size_t snapshotSize() const { return jnCharacter_SnapshotSize(get()); }
    bool save(Span<std::byte> snapshot) const
    {
        bool good = snapshot.size() >= snapshotSize();
        if (good) {
            jnCharacter_Save(get(), snapshot.data());
        }
        return good;
    }
    bool restore(Span<const std::byte> snapshot, Error& error)
    {
        error.code = jnCharacter_Restore(get(), snapshot.data(), snapshot.size(), &error);
        return error.code == jn_ok;
    }

private:
    bool fill(const Pose& pose, jnPose& out) const
    {
        const jnAsset* a = asset();
        std::size_t joints = static_cast<std::size_t>(a->jointCount);
        bool good = true;
        out.rotations = detail::need(pose.rotations, 4 * joints, good);
        out.translations = detail::need(pose.translations, 3 * joints, good);
        out.scales = detail::need(pose.scales, 3 * joints, good);
        out.matrices = detail::need(pose.matrices, 12 * joints, good);
        out.targets = detail::need(pose.targets, static_cast<std::size_t>(a->targetCount), good);
        out.root = pose.root;
        out.origin = pose.origin;
        return good;
    }
    bool fill(const Output& output, jnCharacterOutput& out) const
    {
        const jnAsset* a = asset();
        std::size_t weights = static_cast<std::size_t>(a->weightCount);
        std::size_t numbers = 3 * static_cast<std::size_t>(a->fileVertexCount);
        bool good = true;
        out.weights = detail::need(output.weights, weights, good);
        out.weightRates = detail::need(output.weightRates, weights, good);
        out.positions = detail::need(output.positions, numbers, good);
        out.velocities = detail::need(output.velocities, numbers, good);
        out.normals = detail::need(output.normals, numbers, good);
        return good;
    }
    std::unique_ptr<jnCharacter, detail::Destroy> character_;
};

} // namespace jounce
