// Words on standard error beside a program that runs or has run. Nothing comes of it if they cannot
// be written: the exit code is the program's, also where nobody reads, the disk is full or there is
// no standard error. fmt::print would throw.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace heapgauge::cli {

template <typename... Values>
void TellUser(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fputs(text.c_str(), stderr);
}

}  // namespace heapgauge::cli
