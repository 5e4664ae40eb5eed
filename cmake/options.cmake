# What every target of this project is compiled with. Included once by the top CMakeLists.txt.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

include(GNUInstallDirs)

# What depends on the processor is in files named *_ARCH.*, and nowhere else.
set(HEAPGAUGE_ARCH ${CMAKE_SYSTEM_PROCESSOR})
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/agent/hooks/entries_${HEAPGAUGE_ARCH}.S)
  message(FATAL_ERROR "heapgauge does not know ${HEAPGAUGE_ARCH} yet: it needs files as those named *_x86_64.*")
endif()

# ccache keeps objects that were made with a precompiled header only if told that it may.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# gcc would rather collect garbage again and again than take more than a quarter of a gigabyte.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# heapgauge_warnings: our own code compiles without a warning on gcc 12 and clang 14.
add_library(heapgauge_warnings INTERFACE)
target_compile_options(heapgauge_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion
                                                    -Wno-sign-conversion -Werror)

# heapgauge_sanitize: for the readers, the CLI and tests; never for the agent, which lives in
# programs that were not built for it.
add_library(heapgauge_sanitize INTERFACE)
if(HEAPGAUGE_SANITIZE)
  target_compile_options(heapgauge_sanitize INTERFACE -fsanitize=${HEAPGAUGE_SANITIZE}
                                                      -fno-omit-frame-pointer)
  target_link_options(heapgauge_sanitize INTERFACE -fsanitize=${HEAPGAUGE_SANITIZE})
endif()

# heapgauge_light: lines and functions for a debugger, no variables. A third of the time to build.
add_library(heapgauge_light INTERFACE)
target_compile_options(heapgauge_light INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)

# heapgauge_cold: code that spends no time (options, tests) is not worth optimising for long.
add_library(heapgauge_cold INTERFACE)
target_link_libraries(heapgauge_cold INTERFACE heapgauge_light)
target_compile_options(heapgauge_cold INTERFACE $<$<CONFIG:RelWithDebInfo>:-Og>)

# heapgauge_precompile(TARGET HEADERS... | REUSE_FROM OTHER): parse these once. Off in the clang
# build, which so finds the file that lacks an #include of its own.
option(HEAPGAUGE_PRECOMPILE "Precompile common headers" ON)
function(heapgauge_precompile target)
  if(HEAPGAUGE_PRECOMPILE)
    # gcc forgets which precompiled lines are the system's, and warns of its own library.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict
                                               -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
    if(ARGV1 STREQUAL REUSE_FROM)
      target_precompile_headers(${target} ${ARGN})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()

# heapgauge_together(TARGET [ALONE FILES-OR-FOLDERS...]): compile the files of each folder some at a
# time, which takes a third less than one by one. Files that cannot be together (they define the same
# names, as every dialect has its routes) stay alone. Off in the clang build, for the same reason
# as precompiled headers.
option(HEAPGAUGE_TOGETHER "Compile several files at a time" ON)
function(heapgauge_together target)
  cmake_parse_arguments(arg "" "" ALONE ${ARGN})
  if(NOT HEAPGAUGE_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes the files for headers, and warns of private types in what others might see.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  # A file's batch follows from its name, so that a new file changes one batch and not all behind it.
  set(most 8)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${directory} OUTPUT_VARIABLE relative)
    cmake_path(GET relative PARENT_PATH folder)
    get_source_file_property(group ${source} TARGET_DIRECTORY ${target} UNITY_GROUP)
    if(group OR relative IN_LIST arg_ALONE OR folder IN_LIST arg_ALONE OR NOT relative MATCHES "\\.cc$")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "in_${folder}" key)
    list(APPEND keys ${key})
    list(APPEND files_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES keys)
  foreach(key ${keys})
    list(LENGTH files_${key} count)
    set(batches 1)
    set(room ${most})
    while(count GREATER room)
      math(EXPR batches "${batches} * 2")
      math(EXPR room "${batches} * ${most}")
    endwhile()
    foreach(source ${files_${key}})
      cmake_path(GET source FILENAME name)
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 4 hash)
      math(EXPR batch "0x${hash} % ${batches}")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                  PROPERTIES UNITY_GROUP ${key}_${batch})
    endforeach()
  endforeach()
endfunction()
