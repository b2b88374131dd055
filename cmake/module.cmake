# How every module of src/ is compiled: one OBJECT library each, all with the same warnings.
set(GLAIVE_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wvla -Wcast-qual -Wstrict-prototypes
    -Wmissing-prototypes -Wundef -Wformat=2 -Wdouble-promotion -Werror)

# gcc's -Wmaybe-uninitialized loses track of results that are set only on success; the debug build, clang and the
# sanitizers look at the same code with less imagination.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "Release|RelWithDebInfo")
  list(APPEND GLAIVE_WARNINGS -Wno-maybe-uninitialized)
endif()

add_library(glaive_flags INTERFACE)
target_include_directories(glaive_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(glaive_flags INTERFACE -fno-strict-overflow -fno-common -ffp-contract=off)
target_compile_definitions(glaive_flags INTERFACE GLAIVE_VERSION="${PROJECT_VERSION}" _POSIX_C_SOURCE=200809L)
if(GLAIVE_DEBUG_ARENA)
  target_compile_definitions(glaive_flags INTERFACE GLAIVE_DEBUG_ARENA)
endif()
if(GLAIVE_SANITIZE)
  target_compile_options(glaive_flags INTERFACE -fsanitize=${GLAIVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(glaive_flags INTERFACE -fsanitize=${GLAIVE_SANITIZE})
endif()
if(GLAIVE_FUZZ)
  target_compile_options(glaive_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GLAIVE_COVERAGE)
  target_compile_options(glaive_flags INTERFACE --coverage)
  target_link_options(glaive_flags INTERFACE --coverage)
endif()
if(CMAKE_BUILD_TYPE MATCHES "Release|RelWithDebInfo")
  target_compile_options(glaive_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection)
  target_link_options(glaive_flags INTERFACE -Wl,-z,relro,-z,now)
endif()

set_property(GLOBAL PROPERTY GLAIVE_MODULES "")

# glaive_module(NAME SOURCES a.c b.c LIBRARIES glaive::zstd ...)
function(glaive_module name)
  cmake_parse_arguments(M "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(glaive_${name} OBJECT ${M_SOURCES})
  target_link_libraries(glaive_${name} PUBLIC glaive_flags Threads::Threads ${M_LIBRARIES})
  target_compile_options(glaive_${name} PRIVATE ${GLAIVE_WARNINGS})
  set_property(GLOBAL APPEND PROPERTY GLAIVE_MODULES glaive_${name})
endfunction()
