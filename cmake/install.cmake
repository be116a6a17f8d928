# What `cmake --install` lays down: headers, both libraries, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/jounce DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS jounce_static jounce_shared EXPORT jounce_targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT jounce_targets NAMESPACE jounce:: FILE jounceTargets.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce)

configure_package_config_file(cmake/jounceConfig.cmake.in ${PROJECT_BINARY_DIR}/jounceConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/jounceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jounceConfig.cmake ${PROJECT_BINARY_DIR}/jounceConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce)

file(RELATIVE_PATH prefix_from_pc
    /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/jounce.pc.in ${PROJECT_BINARY_DIR}/jounce.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/jounce.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(JOUNCE_AUTHOR)
    install(TARGETS jounce_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES src/cli/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME jounce)
endif()
