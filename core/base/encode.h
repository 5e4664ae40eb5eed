// Text and bytes in the forms that others take: HTML, words of a shell, regular expressions,
// hexadecimal digits, base64.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heapgauge {

// Text that goes into HTML or SVG, between tags or inside a quoted attribute.
std::string EscapeHtml(std::string_view text);

// The same for text from anywhere, such as names of functions: control
// characters and broken UTF-8 become a mark.
std::string HtmlText(std::string_view text);

// A word of a command to paste, so that the name of a file reaches the program as one word: the
// text as one writes it in a shell to mean just that. It stays as it is where nothing in it means
// something there, else in quotes. What cannot be shown is written as \ooo in the form $'...' of
// bash, ksh and zsh; so the result can be printed.
std::string ShellWord(std::string_view text);

// The text with a backslash before each of the marks in it.
std::string WithBackslashes(std::string_view text, std::string_view marks);

// A regular expression that matches the text and nothing else.
std::string EscapeRegex(std::string_view text);

// Two hexadecimal digits for each byte, in lower case.
std::string HexText(std::span<const uint8_t> bytes);

// Bytes as base64 (RFC 4648), for data that is put into texts.
std::string Base64(std::string_view bytes);

}  // namespace heapgauge
