# What `cmake --install` lays down: headers, both libraries, a CMake package, a pkg-config file and the license. The
# components are the packages of packages.cmake: runtime, devel and tool.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/jounce DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(TARGETS jounce_static jounce_shared EXPORT jounce_targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
install(EXPORT jounce_targets NAMESPACE jounce:: FILE jounceTargets.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce COMPONENT devel)

configure_package_config_file(cmake/jounceConfig.cmake.in ${PROJECT_BINARY_DIR}/jounceConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/jounceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jounceConfig.cmake ${PROJECT_BINARY_DIR}/jounceConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/jounce COMPONENT devel)

file(RELATIVE_PATH prefix_from_pc
    /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/jounce.pc.in ${PROJECT_BINARY_DIR}/jounce.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/jounce.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

# The two files to drop in, for whoever wants them.
install(FILES ${amalgamation}/jounce.c ${amalgamation}/jounce.h
    DESTINATION ${CMAKE_INSTALL_DATADIR}/jounce/amalgamation COMPONENT devel)

# One license a package: Debian's are named for the package.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libjounce RENAME copyright COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libjounce-dev RENAME copyright COMPONENT devel)
if(JOUNCE_AUTHOR)
    install(TARGETS jounce_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
    # The command contains more than our own: Debian's form of saying so.
    file(STRINGS LICENSE license_lines)
    set(expat "")
    foreach(line IN LISTS license_lines)
        if(line STREQUAL "")
            set(line ".")
        endif()
        string(APPEND expat " ${line}\n")
    endforeach()
    string(STRIP "${expat}" expat)
    set(expat " ${expat}")
    configure_file(cmake/copyright.tool.in ${PROJECT_BINARY_DIR}/copyright.tool @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/copyright.tool DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/jounce RENAME copyright
        COMPONENT tool)
    install(FILES src/cli/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME jounce
        COMPONENT tool)
endif()
