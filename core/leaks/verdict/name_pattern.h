// The patterns of suppression files: Valgrind's, and LeakSanitizer's.
//
// Pure; time is at most the product of both lengths.
#pragma once

#include <string_view>

namespace heapgauge::leaks {

// Valgrind's: whether all of `text` is what the pattern says; '*' is any text, '?' any character.
bool MatchesGlob(std::string_view pattern, std::string_view text);
// LeakSanitizer's: a part of the text unless '^' or '$' say otherwise; '*' is any text.
bool MatchesTemplate(std::string_view pattern, std::string_view text);

}  // namespace heapgauge::leaks
