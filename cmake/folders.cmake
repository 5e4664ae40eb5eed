# One library for each folder, and one test program beside it. Included once by the top CMakeLists.txt.
#
# The LINKS of a folder are the rule of who may include whom: a file may include files of its own
# folder and of the folders that its library links, directly or through others. tests/layers_test.py
# reads these lines and checks every #include against them.

# heapgauge_folder(NAME SOURCES files... [ALONE files...] [LINKS targets...] [LIBRARIES targets...]
#                  [INCLUDES dirs...])
# Makes heapgauge_NAME, alias heapgauge::NAME. ALONE: compiled one by one, because a service library
# replaces the object (service/left_out.cc) or because they define names of other files. LIBRARIES
# and INCLUDES are other people's.
function(heapgauge_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;ALONE;LINKS;LIBRARIES;INCLUDES" ${ARGN})
  set(target heapgauge_${name})
  add_library(${target} STATIC ${arg_SOURCES} ${arg_ALONE})
  add_library(heapgauge::${name} ALIAS ${target})
  target_link_libraries(
    ${target}
    PUBLIC ${arg_LINKS} heapgauge::wire tl::expected
    PRIVATE heapgauge_warnings heapgauge_sanitize heapgauge_light Threads::Threads ${arg_LIBRARIES})
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  target_compile_options(
    ${target}
    PRIVATE
      # It is linked into programs and libraries whole; nobody replaces single functions of it.
      # Without this the compiler must expect that, and inlines little.
      -fno-semantic-interposition
      # Libraries for other programs take of it what they need, function by function.
      -ffunction-sections
      -fdata-sections
      # As the precompiled header has it.
      -pthread)
  if(TARGET heapgauge_base AND NOT name STREQUAL base)
    heapgauge_precompile(${target} REUSE_FROM heapgauge_base)
  else()
    heapgauge_precompile(
      ${target} <algorithm> <charconv> <cmath> <cstdint> <filesystem> <fstream> <functional> <map>
      <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <vector>
      <fmt/format.h> <tl/expected.hpp>)
  endif()
  heapgauge_together(${target} ALONE ${arg_ALONE})
endfunction()

# heapgauge_core_test(NAME SOURCES... [ALONE SOURCES...]): a test program over heapgauge::core.
if(HEAPGAUGE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
function(heapgauge_core_test name)
  if(NOT HEAPGAUGE_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "ALONE" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS} ${arg_ALONE})
  target_link_libraries(
    ${name}
    PRIVATE heapgauge::core heapgauge_gauge_testing heapgauge_warnings heapgauge_sanitize
            heapgauge_cold fmt::fmt nlohmann_json::nlohmann_json GTest::gtest_main GTest::gmock)
  target_compile_options(${name} PRIVATE -pthread)
  heapgauge_together(${name} ALONE ${arg_ALONE})
  # All share the header that the first one makes.
  if(TARGET heapgauge_base_test AND NOT name STREQUAL heapgauge_base_test)
    heapgauge_precompile(${name} REUSE_FROM heapgauge_base_test)
  else()
    heapgauge_precompile(${name} <gtest/gtest.h> <filesystem> <fstream> <nlohmann/json.hpp>
                         <tl/expected.hpp>)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

# heapgauge_folder_test(NAME SOURCES files... [ALONE files...] [LIBRARIES targets...]): the tests of
# a folder, in heapgauge_NAME_test.
function(heapgauge_folder_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;ALONE;LIBRARIES;INCLUDES" ${ARGN})
  set(target heapgauge_${name}_test)
  heapgauge_core_test(${target} ${arg_SOURCES} ALONE ${arg_ALONE})
  if(TARGET ${target})
    target_link_libraries(${target} PRIVATE heapgauge::${name} ${arg_LIBRARIES})
    target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  endif()
endfunction()
