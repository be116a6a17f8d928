# The viewer and the npm package. They need node, npm and clang's WebAssembly; without them the build goes on and
# `jounce view` says what is missing. The viewer lies beside the command as it does once installed.
set(web_work ${PROJECT_BINARY_DIR}/web)
cmake_path(SET web_viewer NORMALIZE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${viewer_from_command})
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS web/*.ts web/*.html web/*.css web/*.c web/*.h web/*.sh web/*.mjs web/*.json web/*.svg)
list(FILTER web_sources EXCLUDE REGEX "/web/(.*/)?(node_modules|dist)/")
add_custom_command(OUTPUT ${web_work}/stamp
    COMMAND ${PROJECT_SOURCE_DIR}/web/build.sh ${PROJECT_SOURCE_DIR} ${web_work} ${web_viewer}
    DEPENDS ${web_sources} ${runtime_sources}
    COMMENT "Building the viewer" VERBATIM)
add_custom_target(jounce_viewer ALL DEPENDS ${web_work}/stamp)
install(DIRECTORY ${web_viewer} DESTINATION ${CMAKE_INSTALL_DATADIR}/jounce COMPONENT tool OPTIONAL)
