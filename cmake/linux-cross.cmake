# A toolchain of Debian's cross compilers for make portable: -DJOUNCE_TARGET=aarch64-linux-gnu.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES JOUNCE_TARGET)
string(REGEX MATCH "^[^-]+" target_processor "${JOUNCE_TARGET}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${target_processor})
set(CMAKE_C_COMPILER ${JOUNCE_TARGET}-gcc)
set(CMAKE_CXX_COMPILER ${JOUNCE_TARGET}-g++)
