#include "core/query/sql_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace heapgauge::query {
namespace {

struct Token {
  enum class Kind { kWord, kPoint, kComma, kOpen, kClose, kEnd, kOther } kind;
  size_t begin;
  size_t end;
};

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// The end of something quoted that begins at `at`; a doubled quote is part of it.
size_t EndOfQuoted(std::string_view sql, size_t at, char close, bool doubles) {
  for (size_t i = at + 1; i < sql.size(); ++i) {
    if (sql[i] != close) continue;
    if (doubles && i + 1 < sql.size() && sql[i + 1] == close) {
      ++i;
      continue;
    }
    return i + 1;
  }
  return sql.size();
}

// Without spaces and comments.
std::vector<Token> Tokenize(std::string_view sql) {
  std::vector<Token> tokens;
  using Kind = Token::Kind;
  for (size_t i = 0; i < sql.size();) {
    const char c = sql[i];
    const size_t begin = i;
    Kind kind = Kind::kOther;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      ++i;
      continue;
    }
    if (sql.substr(i, 2) == "--") {
      i = std::min(sql.find('\n', i), sql.size());
      continue;
    }
    if (sql.substr(i, 2) == "/*") {
      const size_t end = sql.find("*/", i + 2);
      i = end == std::string_view::npos ? sql.size() : end + 2;
      continue;
    }
    if (c == '\'') {
      i = EndOfQuoted(sql, i, c, true);
    } else if (c == '"' || c == '`') {
      i = EndOfQuoted(sql, i, c, true);
      kind = Kind::kWord;
    } else if (c == '[') {
      i = EndOfQuoted(sql, i, ']', false);
      kind = Kind::kWord;
    } else if (IsWordByte(c)) {
      while (i < sql.size() && IsWordByte(sql[i])) ++i;
      kind = Kind::kWord;
    } else {
      ++i;
      if (c == '.') kind = Kind::kPoint;
      if (c == ',') kind = Kind::kComma;
      if (c == '(') kind = Kind::kOpen;
      if (c == ')') kind = Kind::kClose;
      if (c == ';') kind = Kind::kEnd;
    }
    tokens.push_back({kind, begin, i});
  }
  return tokens;
}

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y;
  });
}

// Arguments of each call, by the token of its opening parenthesis: 0, 1, or 2 for more. One pass,
// so that no nesting makes it slow.
std::vector<int> CountArguments(const std::vector<Token>& tokens) {
  std::vector<int> counts(tokens.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::kClose) {
      if (!open.empty()) open.pop_back();
    } else if (!open.empty() && counts[open.back()] == 0) {
      counts[open.back()] = 1;
    }
    if (tokens[i].kind == Token::Kind::kComma && !open.empty()) counts[open.back()] = 2;
    if (tokens[i].kind == Token::Kind::kOpen) open.push_back(i);
  }
  return counts;
}

}  // namespace

void CompletedSql::Copy(size_t from, size_t to) {
  if (from == to) return;
  pieces_.push_back({text_.size(), from, true});
  text_.append(original_, from, to - from);
}

void CompletedSql::Insert(std::string_view text, size_t original) {
  pieces_.push_back({text_.size(), original, false});
  text_ += text;
}

CompletedSql::CompletedSql(std::string_view original) : original_(original) {
  using Kind = Token::Kind;
  const std::vector<Token> tokens = Tokenize(original_);
  const std::vector<int> arguments = CountArguments(tokens);
  const auto word = [&](size_t i) {
    return std::string_view(original_).substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
  };
  size_t copied = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::kWord || tokens[i + 1].kind != Kind::kOpen) continue;
    const bool live = SameWord(word(i), "live_at");
    if (!live && !SameWord(word(i), "stack_contains")) continue;
    if (arguments[i + 1] != 1) continue;
    const bool qualified =
        i >= 2 && tokens[i - 1].kind == Kind::kPoint && tokens[i - 2].kind == Kind::kWord;
    const size_t begin = qualified ? tokens[i - 2].begin : tokens[i].begin;
    if (begin < copied) continue;
    Copy(copied, begin);
    Copy(tokens[i].begin, tokens[i + 1].end);
    if (qualified) {
      Copy(tokens[i - 2].begin, tokens[i - 2].end);
      Insert(".", tokens[i - 1].begin);
    }
    Insert(live ? "lifespan, " : "stack, ", tokens[i].begin);
    copied = tokens[i + 1].end;
  }
  Copy(copied, original_.size());
}

size_t CompletedSql::OriginalOffset(size_t offset) const {
  const auto behind = std::partition_point(
      pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.begin <= offset; });
  if (behind == pieces_.begin()) return 0;
  const Piece& piece = *(behind - 1);
  if (!piece.copied) return piece.original;
  return std::min(piece.original + (offset - piece.begin), original_.size());
}

std::string_view CompletedSql::OriginalText(size_t begin, size_t end) const {
  if (begin >= end) return {};
  size_t from = OriginalOffset(begin);
  const auto first = std::partition_point(pieces_.begin(), pieces_.end(),
                                          [&](const Piece& piece) { return piece.begin <= begin; });
  // The name of a table is put behind what it was written before.
  for (auto piece = first; piece != pieces_.end() && piece->begin < end; ++piece) {
    from = std::min(from, piece->original);
  }
  const size_t to = OriginalOffset(end - 1) + 1;
  return to > from ? std::string_view(original_).substr(from, to - from) : std::string_view();
}

size_t CountStatements(std::string_view sql) {
  size_t count = 0;
  bool within = false;
  // A text with a NUL in it ends there.
  for (const Token& token : Tokenize(sql.substr(0, sql.find('\0')))) {
    const bool ends = token.kind == Token::Kind::kEnd;
    if (!ends && !within) ++count;
    within = !ends;
  }
  return count;
}

std::string PlaceInText(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const std::string_view line = start == std::string_view::npos ? before : before.substr(start + 1);
  return fmt::format("line {}, column {}", lines + 1, DisplayWidth(line) + 1);
}

}  // namespace heapgauge::query
