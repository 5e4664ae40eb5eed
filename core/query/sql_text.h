// Statements as people write them, made into what SQLite takes.
//
// A function in SQL sees values and no row, so live_at(t) cannot know whose life is meant. Written
// like that it is completed here: live_at(t) becomes live_at(lifespan, t), a.live_at(t) becomes
// live_at(a.lifespan, t), and likewise stack_contains(re) and stack. Strings, quoted names and
// comments are left alone.
//
// Pure functions, linear in the length of the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge::query {

class CompletedSql {
 public:
  explicit CompletedSql(std::string_view original);

  const std::string& text() const { return text_; }
  // Where in the original the byte of text() at `offset` came from.
  size_t OriginalOffset(size_t offset) const;
  const std::string& original() const { return original_; }
  // What was written where text() has [begin, end).
  std::string_view OriginalText(size_t begin, size_t end) const;

 private:
  struct Piece {
    size_t begin;     // in text_
    size_t original;  // in original_
    bool copied;      // otherwise it was put in there
  };
  void Copy(size_t from, size_t to);
  void Insert(std::string_view text, size_t original);

  std::string original_;
  std::string text_;
  std::vector<Piece> pieces_;
};

// How many statements SQLite will find in a text; comments alone are none.
size_t CountStatements(std::string_view sql);

// "line 2, column 7".
std::string PlaceInText(std::string_view text, size_t offset);

}  // namespace heapgauge::query
