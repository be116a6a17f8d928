# Tests of the project itself: what is installed, what the runtime depends on, no vector code. The other compiler
# has the sanitized build.
# They look at the release build; the sanitized one has libraries of its own in it.
if(NOT JOUNCE_SANITIZE AND JOUNCE_AUTHOR AND JOUNCE_SIMD)
    add_test(NAME project/install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/install.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    add_test(NAME project/hardened COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/hardened.sh ${PROJECT_BINARY_DIR})
    add_test(NAME project/floors COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/floors.sh ${PROJECT_SOURCE_DIR})
    add_test(NAME project/option_types COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/option_types.sh
        ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
    add_test(NAME project/functions COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/functions.sh ${PROJECT_SOURCE_DIR})
    add_test(NAME project/runtime_alone COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/runtime_alone.sh
        ${PROJECT_SOURCE_DIR} $<TARGET_FILE:jounce_shared>)
    add_test(NAME project/scalar COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/other_build.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/scalar -DCMAKE_BUILD_TYPE=Release -DJOUNCE_SIMD=OFF -DJOUNCE_AUTHOR=OFF
        "-DCMAKE_C_FLAGS_RELEASE=-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -DJN_SCALAR")
    add_test(NAME project/threads COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/threads.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/threads)
    add_test(NAME project/packages COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/packages.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(project/packages PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME project/release COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/release.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(project/release PROPERTIES SKIP_RETURN_CODE 77)
    # Other compilers and machines, as far as their tools are here (make platforms installs them). Cells that use each
    # other's programs are one test.
    foreach(cells
            gcc-avx2,s390x,mingw-dll gcc-plain gcc-native gcc-11 clang-14 clang-13 two-files headers-c++17 subproject i686
            aarch64 aarch64-plain,aarch64-gnu,neon-count aarch64-clang armhf armhf-neon riscv64 mingw wasm wasm-plain
            msvc-x64,msvc-arm64 macos-arm64,macos-x64,ios-arm64 android-arm64,android-arm,android-x64)
        string(REPLACE "," ";" list ${cells})
        string(REPLACE "," "+" name ${cells})
        add_test(NAME platforms/${name} COMMAND ${PROJECT_SOURCE_DIR}/tools/platforms.sh ${PROJECT_BINARY_DIR}/platforms ${list})
        set_tests_properties(platforms/${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
    endforeach()
    set_tests_properties(project/threads PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME project/gltf_validator COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/gltf_validator.sh
        $<TARGET_FILE:jounce_command> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/gltf_validator PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME project/engine COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/engine.sh
        $<TARGET_FILE:jounce_command> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/engine PROPERTIES SKIP_RETURN_CODE 77 COST 100 ENVIRONMENT OMP_WAIT_POLICY=passive)
    add_test(NAME project/bindings COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/bindings.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(project/bindings PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT OMP_WAIT_POLICY=passive)
    add_test(NAME project/blender COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/blender.sh
        $<TARGET_FILE:jounce_command> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/blender PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME project/python COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/python.sh
        ${PROJECT_SOURCE_DIR} $<TARGET_FILE:jounce_command> $<TARGET_FILE:jounce_shared> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/python PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 ENVIRONMENT OMP_WAIT_POLICY=passive)
    add_test(NAME project/blender_addon COMMAND ${PROJECT_SOURCE_DIR}/blender/test/run.sh
        ${PROJECT_SOURCE_DIR} $<TARGET_FILE:jounce_command> $<TARGET_FILE:jounce_shared> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/blender_addon PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 ENVIRONMENT OMP_WAIT_POLICY=passive)
    add_test(NAME project/results COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/results.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(project/results PROPERTIES SKIP_RETURN_CODE 77)
    # The manual: links, shape and words; generated pages; explained errors; and every quick command in it is run.
    add_test(NAME project/docs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/docs.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} $<TARGET_FILE:jounce_command>)
    add_test(NAME project/snippets COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/snippets.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(project/snippets PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME project/docs_commands COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tools/docs/commands.py ${PROJECT_BINARY_DIR})
    set_tests_properties(project/docs_commands PROPERTIES TIMEOUT 3600)
    # The whole pipeline, small: once for all who look at it; then once more, and killed on the way.
    add_test(NAME project/quick_demo COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/demo.sh
        $<TARGET_FILE:jounce_command> ${PROJECT_BINARY_DIR} first)
    set_tests_properties(project/quick_demo PROPERTIES FIXTURES_SETUP quick_demo COST 300 ENVIRONMENT OMP_WAIT_POLICY=passive)
    set_tests_properties(project/python project/docs_commands PROPERTIES FIXTURES_REQUIRED quick_demo)
    add_test(NAME project/demo COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/demo.sh
        $<TARGET_FILE:jounce_command> ${PROJECT_BINARY_DIR})
    set_tests_properties(project/demo PROPERTIES FIXTURES_REQUIRED quick_demo COST 200 ENVIRONMENT OMP_WAIT_POLICY=passive)
    # The longest first, so that none is left over for one core alone.
    set_tests_properties(project/scalar project/threads project/install project/python project/blender_addon
        project/docs_commands PROPERTIES COST 150)
    # The runtime in WebAssembly against one compiled here without vectors; the viewer in a browser.
    if(JOUNCE_WEB)
        set(scalar_sources ${runtime_sources})
        list(FILTER scalar_sources EXCLUDE REGEX "_avx(2|512)\\.c$")
        add_executable(web_reference ${PROJECT_SOURCE_DIR}/web/test/reference.c ${scalar_sources})
        target_compile_definitions(web_reference PRIVATE JN_SCALAR)
        target_compile_options(web_reference PRIVATE -O2 -fno-tree-vectorize -fno-tree-slp-vectorize)
        target_include_directories(web_reference PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src/runtime)
        target_link_libraries(web_reference PRIVATE jounce_options m)
        # Small files with a network and modes, for both.
        add_executable(web_assets ${PROJECT_SOURCE_DIR}/web/test/assets.c)
        target_compile_definitions(web_assets PRIVATE ${kernel_definitions})
        target_include_directories(web_assets PRIVATE ${PROJECT_SOURCE_DIR}/src/runtime ${PROJECT_SOURCE_DIR}/test)
        target_link_libraries(web_assets PRIVATE jounce_options jounce_author)
        foreach(name runtime package three glb viewer crowd studio)
            add_test(NAME project/web_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/web.sh
                ${web_work} $<TARGET_FILE:jounce_command> $<TARGET_FILE:web_reference> $<TARGET_FILE:web_assets> ${name})
            set_tests_properties(project/web_${name} PROPERTIES SKIP_RETURN_CODE 77)
        endforeach()
        # It takes both cores, so it begins: later one of them would have to wait for the other.
        set_tests_properties(project/web_viewer project/web_studio PROPERTIES PROCESSORS 2 COST 400)
        set_tests_properties(project/web_studio PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive TIMEOUT 1500)
        set_tests_properties(project/web_package PROPERTIES COST 150)
        set_tests_properties(project/web_glb PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive COST 100)
        # On the page that the report's test leaves.
        add_test(NAME project/web_report COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/project/web.sh
            ${web_work} $<TARGET_FILE:jounce_command> $<TARGET_FILE:web_reference> $<TARGET_FILE:web_assets> report ${PROJECT_BINARY_DIR}/report.html)
        set_tests_properties(cli/report PROPERTIES FIXTURES_SETUP report)
        set_tests_properties(project/web_report PROPERTIES FIXTURES_REQUIRED report SKIP_RETURN_CODE 77)
    endif()
endif()
