# The fuzz targets: programs of the sanitized builds by clang, where its libFuzzer is. The sources that read files from
# elsewhere are compiled once more with its instruments; all else comes from the library. tools/fuzz.sh runs them.
# The sanitize preset has AddressSanitizer and UBSan; the fuzz preset is optimised and has UBSan alone, for numbers.
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer,undefined)
set(CMAKE_REQUIRED_LINK_OPTIONS -fsanitize=fuzzer,undefined)
check_c_source_compiles("#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t* d, size_t n);
    int LLVMFuzzerTestOneInput(const uint8_t* d, size_t n) { (void)d; return n > 9; }" JN_HAVE_FUZZER)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(NOT JN_HAVE_FUZZER)
    message(STATUS "fuzz targets: not built, this compiler has no libFuzzer")
    return()
endif()
set(room ${PROJECT_SOURCE_DIR}/src/author)
add_library(fuzzed OBJECT ${room}/base/npy.c ${room}/base/bounds.c ${room}/character/bvh.c ${room}/character/motion_cache.c
    ${room}/character/alembic_read.c ${room}/character/ogawa.c ${room}/character/usda_read.c
    ${room}/character/mesh_cache_read.c ${room}/character/obj_points.c
    ${room}/character/gltf_file.c ${room}/character/gltf_check.c ${room}/character/gltf_accessor.c
    ${room}/character/gltf_mesh.c ${room}/character/gltf_animation.c ${room}/character/gltf_scene.c
    ${room}/character/gltf_meshopt.c ${room}/character/gltf_draco.c ${room}/character/gltf_uri.c
    ${room}/character/scene_read.c ${room}/character/import_rig.c
    ${room}/character/import_surface.c ${room}/character/import_attributes.c ${room}/character/import_clip.c
    ${room}/character/weld.c ${room}/workspace/manifest.c ${room}/workspace/yaml_map.c ${room}/workspace/store.c
    ${room}/view/server.c)
target_link_libraries(fuzzed PRIVATE jounce_options PkgConfig::author_packages)
target_compile_definitions(fuzzed PRIVATE _GNU_SOURCE)
target_compile_options(fuzzed PRIVATE -fsanitize=fuzzer-no-link)
target_include_directories(fuzzed PRIVATE ${PROJECT_SOURCE_DIR}/include ${room} ${PROJECT_SOURCE_DIR}/src
    ${meshoptimizer_include})
add_library(fuzzed_runtime OBJECT ${PROJECT_SOURCE_DIR}/src/runtime/asset.c ${PROJECT_SOURCE_DIR}/src/runtime/asset_check.c
    ${PROJECT_SOURCE_DIR}/src/runtime/asset_modes.c ${PROJECT_SOURCE_DIR}/src/runtime/asset_hits.c ${PROJECT_SOURCE_DIR}/src/runtime/network_check.c
    ${PROJECT_SOURCE_DIR}/src/runtime/character.c ${PROJECT_SOURCE_DIR}/src/runtime/morphs.c
    ${PROJECT_SOURCE_DIR}/src/runtime/springs.c ${PROJECT_SOURCE_DIR}/src/runtime/snapshot.c)
target_link_libraries(fuzzed_runtime PRIVATE jounce_options)
target_compile_options(fuzzed_runtime PRIVATE -fsanitize=fuzzer-no-link)
target_compile_definitions(fuzzed_runtime PRIVATE ${kernel_definitions})
target_include_directories(fuzzed_runtime PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src/runtime)

file(GLOB sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    if(name MATCHES "fuzz_(asset|calls|snapshot)")
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:fuzzed_runtime>)
    else()
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:fuzzed>)
        if(NOT name STREQUAL fuzz_http)
            target_sources(${name} PRIVATE fuzz/memory_files.c)
            target_link_options(${name} PRIVATE -Wl,--wrap=fopen,--wrap=access)
        endif()
    endif()
    # bounds.c stands between libFuzzer and the target.
    string(REPLACE "fuzz_" "" target ${name})
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=TargetOneInput)
    add_library(bounds_${target} OBJECT fuzz/bounds.c)
    target_link_libraries(bounds_${target} PRIVATE jounce_options)
    target_compile_definitions(bounds_${target} PRIVATE _GNU_SOURCE FUZZ_TARGET="${target}")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:bounds_${target}>)
    target_link_libraries(${name} PRIVATE jounce_options jounce_author)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE ${kernel_definitions})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/runtime
        ${room})
    list(APPEND fuzz_targets ${name})
endforeach()
add_executable(fuzz_seeds fuzz/seeds.c fuzz/seed_assets.c)
target_link_libraries(fuzz_seeds PRIVATE jounce_options jounce_author PkgConfig::cmocka)
target_compile_definitions(fuzz_seeds PRIVATE _GNU_SOURCE JN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" JN_BINARY_DIR="${PROJECT_BINARY_DIR}")
target_include_directories(fuzz_seeds PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/src/runtime)
add_custom_target(fuzz DEPENDS ${fuzz_targets} fuzz_seeds)

if(NOT JOUNCE_SANITIZE MATCHES "address")
    return()
endif()
# The seeds of assets are files that the asset's tests leave.
add_test(NAME project/fuzz COMMAND ${PROJECT_SOURCE_DIR}/tools/fuzz.sh ${PROJECT_BINARY_DIR} 2)
set_tests_properties(author/asset/asset author/asset/asset_detail author/asset/engine_glb PROPERTIES FIXTURES_SETUP seed)
set_tests_properties(project/fuzz PROPERTIES FIXTURES_REQUIRED seed COST 150 ENVIRONMENT SEED=1)
