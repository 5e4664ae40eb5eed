// Names in suppression files: their patterns, and what Valgrind calls functions and files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/profile.h"

namespace heapgauge::leaks {

// The patterns of suppression files: Valgrind's, and LeakSanitizer's.
//
// Pure; time is at most the product of both lengths.

// Valgrind's: whether all of `text` is what the pattern says; '*' is any text, '?' any character.
bool MatchesGlob(std::string_view pattern, std::string_view text);
// LeakSanitizer's: a part of the text unless '^' or '$' say otherwise; '*' is any text.
bool MatchesTemplate(std::string_view pattern, std::string_view text);

// What Valgrind calls the functions and files that the agent knows by other names, so that entries
// of suppression files go to and fro between both.
//
// Pure, but for KernelPath, which asks the file system.

// The linker's name, without a symbol's version.
std::string_view SystemName(const Function& function);

// Whether a function of this linker name is what Valgrind has in place of the allocator, of which
// it shows one frame.
bool IsAllocator(std::string_view name);
// Whether the glob fits a name of that frame, of a block that `function` (KnownBlock::function)
// allocated.
bool FitsAllocator(std::string_view glob, uint32_t function);

// The C library has names of its own for functions that all know by others: __strdup,
// __GI___strdup, __libc_malloc. All of these begin with two underscores.
std::string_view PublicName(std::string_view name);

// A linker name of which all kinds of a constructor, or of a destructor, are one, `kind`: they
// mostly are one function, which one tool calls by this name and one by that.
std::string OneOfItsKind(std::string_view name, char kind = '1');

// What Valgrind has for all that comes before main, where it shows that at all.
inline constexpr std::string_view kBelowMain = "(below main)";
bool IsBelowMain(std::string_view name);

// Functions of one file alone, which have no linker name in debug information: they go by their
// name and a number that tells them apart (":29").
bool HasNoLinkerName(const Function& function);
// A pattern that fits the linker name of such a function: that consists of the parts of its name,
// each behind its length.
std::string LocalPattern(const Function& function);

// What it calls a function that the compiler has put into another: its name alone, without what it
// is in and without parameters.
std::string InlinedName(const Function& function);

// A file by the name that the kernel has for it, as Valgrind does, if it is there.
std::string KernelPath(const std::string& path);

}  // namespace heapgauge::leaks
