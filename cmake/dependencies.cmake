# Outside libraries. Those that libglaive carries inside are linked from their static archives; nanoarrow and CRoaring
# are compiled from the pinned sources that scripts/bootstrap unpacks under third_party/.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/third_party/roaring/roaring.c OR NOT EXISTS ${PROJECT_SOURCE_DIR}/third_party/nanoarrow/.done)
  message(FATAL_ERROR "third_party/ is not filled; run scripts/bootstrap first")
endif()

# glaive_archive(NAME lib header): an imported static library glaive::NAME
function(glaive_archive name library header)
  find_library(GLAIVE_${name}_ARCHIVE NAMES lib${library}.a REQUIRED)
  find_path(GLAIVE_${name}_INCLUDE ${header} REQUIRED)
  add_library(glaive::${name} STATIC IMPORTED GLOBAL)
  set_target_properties(glaive::${name} PROPERTIES IMPORTED_LOCATION ${GLAIVE_${name}_ARCHIVE}
                        INTERFACE_INCLUDE_DIRECTORIES ${GLAIVE_${name}_INCLUDE})
endfunction()

# glaive_shared_library(NAME lib header): an imported shared library glaive::NAME
function(glaive_shared_library name library header)
  find_library(GLAIVE_${name}_LIBRARY NAMES lib${library}.so REQUIRED)
  find_path(GLAIVE_${name}_INCLUDE ${header} REQUIRED)
  add_library(glaive::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(glaive::${name} PROPERTIES IMPORTED_LOCATION ${GLAIVE_${name}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${GLAIVE_${name}_INCLUDE})
endfunction()

glaive_archive(jansson jansson jansson.h)
glaive_archive(protobuf protobuf-c protobuf-c/protobuf-c.h)
glaive_archive(zstd zstd zstd.h)
glaive_archive(lz4 lz4 lz4.h)
glaive_archive(utf8proc utf8proc utf8proc.h)
glaive_archive(pcre2 pcre2-8 pcre2.h)
glaive_shared_library(gcrypt gcrypt gcrypt.h) # not carried inside: LGPL, and its archive needs libgpg-error's
# Of the program alone: the server and its store of jobs.
glaive_shared_library(microhttpd microhttpd microhttpd.h)
glaive_shared_library(sqlite3 sqlite3 sqlite3.h)
glaive_shared_library(zlib z zlib.h)
set_target_properties(glaive::pcre2 PROPERTIES INTERFACE_COMPILE_DEFINITIONS PCRE2_CODE_UNIT_WIDTH=8)
set_target_properties(glaive::utf8proc PROPERTIES INTERFACE_COMPILE_DEFINITIONS UTF8PROC_STATIC)

file(GLOB_RECURSE nanoarrow_sources ${PROJECT_SOURCE_DIR}/third_party/nanoarrow/src/*.c)
add_library(glaive_nanoarrow STATIC ${nanoarrow_sources})
target_include_directories(glaive_nanoarrow SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party/nanoarrow/include)
target_compile_definitions(glaive_nanoarrow PRIVATE NANOARROW_IPC_WITH_ZSTD NANOARROW_IPC_WITH_LZ4)
target_compile_options(glaive_nanoarrow PRIVATE -w)
target_link_libraries(glaive_nanoarrow PRIVATE glaive::zstd glaive::lz4)

add_library(glaive_roaring STATIC ${PROJECT_SOURCE_DIR}/third_party/roaring/roaring.c)
target_include_directories(glaive_roaring SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party/roaring)
target_compile_options(glaive_roaring PRIVATE -w -O2)
