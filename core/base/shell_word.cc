#include "core/base/shell_word.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace heapgauge {
namespace {

bool MeansItself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_-./:,@%+=").find(c) != std::string_view::npos;
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (Printable(text) != text) {
    std::string word = "$'";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte >= 0x7f) {
        word += fmt::format("\\{:03o}", byte);
      } else {
        if (c == '\'' || c == '\\') word += '\\';
        word += c;
      }
    }
    return word + "'";
  }
  // zsh looks a word that begins with "=" up.
  if (!text.empty() && text.front() != '=' && std::all_of(text.begin(), text.end(), MeansItself)) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace heapgauge
