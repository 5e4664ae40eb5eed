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

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
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
