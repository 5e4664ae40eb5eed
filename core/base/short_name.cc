#include "core/base/short_name.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kNoMatch = std::string_view::npos;

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool StartsWith(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool EndsWith(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

// The end of the keyword `operator` at `at`, and of the operator's sign if that has brackets in it;
// `at` if there is no operator here.
size_t OperatorEnd(std::string_view name, size_t at) {
  if (name[at] != 'o' || (at > 0 && IsWord(name[at - 1]))) return at;
  const std::string_view rest = name.substr(at);
  if (!StartsWith(rest, "operator") || (rest.size() > 8 && IsWord(rest[8]))) return at;
  static constexpr std::string_view kSigns[] = {"()", "[]", "<<=", ">>=", "<=>", "->*", "->",
                                                "<<", ">>", "<=",  ">=",  "<",   ">"};
  for (const std::string_view sign : kSigns) {
    if (StartsWith(rest.substr(8), sign)) return at + 8 + sign.size();
  }
  return at + 8;
}

// For each opening bracket the position of the closing one; kNoMatch elsewhere. A '<' that is a
// comparison has no partner; it ends with the round bracket that it stands in.
std::vector<size_t> MatchBrackets(std::string_view name) {
  std::vector<size_t> match(name.size(), kNoMatch);
  std::vector<size_t> open;
  size_t count[256] = {};
  for (size_t i = 0; i < name.size(); ++i) {
    if (const size_t end = OperatorEnd(name, i); end != i) {
      i = end - 1;
      continue;
    }
    const char c = name[i];
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      open.push_back(i);
      ++count[static_cast<unsigned char>(c)];
      continue;
    }
    if (c == '>') {
      if ((i > 0 && name[i - 1] == '-') || open.empty() || name[open.back()] != '<') continue;
      match[open.back()] = i;
      open.pop_back();
      --count[static_cast<unsigned char>('<')];
      continue;
    }
    const char partner = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0';
    if (partner == '\0' || count[static_cast<unsigned char>(partner)] == 0) continue;
    while (true) {
      const size_t at = open.back();
      open.pop_back();
      --count[static_cast<unsigned char>(name[at])];
      if (name[at] != partner) continue;
      match[at] = i;
      break;
    }
  }
  return match;
}

// Rust's older names end in "::h" and 16 hexadecimal digits, which differ from build to build.
size_t WithoutRustHash(std::string_view name) {
  if (name.size() <= 19 || name.substr(name.size() - 19, 3) != "::h") return name.size();
  const bool is_hash = std::all_of(name.end() - 16, name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  return is_hash ? name.size() - 19 : name.size();
}

// Where components begin, their "::" included; the first at 0. The call operator of a lambda says
// nothing without the function around it, and is one component with it.
std::vector<size_t> Components(std::string_view name, const std::vector<size_t>& match) {
  std::vector<size_t> scopes{0};
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (match[i] != kNoMatch) {
      i = match[i];
    } else if (name[i] == ':' && name[i + 1] == ':') {
      scopes.push_back(i++);
    }
  }
  while (scopes.size() > 1) {
    const std::string_view component = name.substr(scopes.back());
    if (!StartsWith(component, "::operator()") && !StartsWith(component, "::{")) break;
    scopes.pop_back();
  }
  return scopes;
}

class Shortener {
 public:
  Shortener(std::string_view name, const ShortNameOptions& options)
      : name_(name), match_(MatchBrackets(name)), options_(options) {
    if (options.own_levels != options.template_levels) own_ = Components(name_, match_).back();
  }

  std::string Run() {
    size_t begin = 0;
    static constexpr std::string_view kPrefixes[] = {
        "non-virtual thunk to ", "virtual thunk to ",       "covariant return thunk to ",
        "guard variable for ",   "TLS init function for ",  "TLS wrapper function for ",
        "vtable for ",           "construction vtable for "};
    for (const std::string_view prefix : kPrefixes) {
      if (StartsWith(name_, prefix)) {
        out_ += prefix;
        begin = prefix.size();
        break;
      }
    }
    Name(begin, WithoutRustHash(name_), 0);
    return out_.size() == begin ? std::string(name_) : std::move(out_);
  }

 private:
  // A function's name in [at, end). `nesting` counts the pointers it is the result of.
  void Name(size_t at, size_t end, int nesting) {
    const size_t start = out_.size();
    while (at < end) {
      const size_t match = match_[at] < end ? match_[at] : kNoMatch;
      if (const size_t sign = OperatorEnd(name_, at); sign != at) {
        out_ += name_.substr(at, sign - at);
        const bool has_sign = sign != at + 8;
        at = sign;
        // "operator new[]", "operator std::vector<int>": all up to the parameters is the name.
        if (!has_sign && at < end && name_[at] == ' ') at = Conversion(at, end);
        // "operator< <int>": the space keeps sign and arguments apart.
        if (has_sign && at + 1 < end && name_[at] == ' ' && match_[at + 1] < end) {
          out_ += ' ';
          Template(at + 1, match_[at + 1], LevelsAt(at));
          at = match_[at + 1] + 1;
        }
        continue;
      }
      const char c = name_[at];
      if (c == '<' && match != kNoMatch) {
        if (out_.size() == start) {  // Rust: "<T as Trait>::f"
          out_ += '<';
          Type(at + 1, match, 0);
          out_ += '>';
        } else {
          Template(at, match, LevelsAt(at));
        }
        at = match + 1;
      } else if (c == '(' && match != kNoMatch) {
        if (IsAnonymous(at)) {
          out_ += name_.substr(at, match + 1 - at);
        } else if (EndsWith(Since(start), "decltype")) {
          // A return type, which goes at the next space.
        } else if (out_.size() == start && nesting < 3 && IsPointer(at)) {
          Name(at + 2, match, nesting + 1);
          return;
        } else if (out_.size() == start) {
          out_ += name_.substr(at, match + 1 - at);
        } else if (Parameters(&at, match, end)) {
          continue;
        } else {
          return;
        }
        at = match + 1;
      } else if (c == '{' && match != kNoMatch) {
        Braces(at, match);
        at = match + 1;
      } else if (c == '[' && match != kNoMatch) {
        out_ += name_.substr(at, match + 1 - at);
        at = match + 1;
      } else if (c == ' ') {
        const bool bracket = at + 1 < end && (name_[at + 1] == '[' || name_[at + 1] == '(');
        if (bracket && name_[at + 1] == '(' && Since(start) == "decltype") {
          // Goes with what follows.
        } else if (bracket && !IsAnonymous(at + 1) && !IsPointer(at + 1)) {
          out_ += name_.substr(at, end - at);  // "[clone .cold]"
          return;
        } else {
          out_.resize(start);  // that was the return type
        }
        ++at;
      } else {
        at = Letter(at);
      }
    }
  }

  int LevelsAt(size_t at) const {
    return at >= own_ ? options_.own_levels : options_.template_levels;
  }

  // The parameter list that opens at `*at`. Of an enclosing function, as in "f(int)::g": sets `*at`
  // behind it and returns true. Otherwise the name ends here.
  bool Parameters(size_t* at, size_t match, size_t end) {
    size_t after = match + 1;
    static constexpr std::string_view kQualifiers[] = {" const", " volatile", " noexcept", " &&",
                                                       " &",     "&&",        "&"};
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view qualifier : kQualifiers) {
        if (!StartsWith(name_.substr(after, end - after), qualifier)) continue;
        after += qualifier.size();
        found = true;
      }
    }
    if (options_.parameters) {
      out_ += '(';
      Type(*at + 1, match, 0);
      out_ += ')';
      out_ += name_.substr(match + 1, after - match - 1);
    }
    *at = after;
    const std::string_view rest = name_.substr(after, end - after);
    if (StartsWith(rest, "::")) return true;
    out_ += rest;  // "[clone .cold]"
    return false;
  }

  // "{lambda(int)#2}" becomes "{lambda#2}"; Rust's closures stay.
  void Braces(size_t open, size_t close) {
    const std::string_view inside = name_.substr(open, close + 1 - open);
    const size_t number = inside.rfind('#');
    if (!options_.parameters && StartsWith(inside, "{lambda") && number != kNoMatch) {
      out_ += "{lambda";
      out_ += inside.substr(number);
    } else {
      out_ += inside;
    }
  }

  // The type behind "operator "; returns where the parameters open.
  size_t Conversion(size_t at, size_t end) {
    size_t stop = at;
    while (stop < end && (name_[stop] != '(' || IsAnonymous(stop))) {
      const bool skips = (name_[stop] == '<' || name_[stop] == '(') && match_[stop] < end;
      stop = skips ? match_[stop] + 1 : stop + 1;
    }
    Type(at, stop, LevelsAt(at));
    return stop;
  }

  // Arguments in [open, close] of the template whose name was written last.
  void Template(size_t open, size_t close, int levels) {
    const std::string_view inside = name_.substr(open + 1, close - open - 1);
    size_t word = out_.size();
    while (word > 0 && IsWord(out_[word - 1])) --word;
    // std::basic_string<char, ...> is std::string to everybody.
    const bool narrow = inside == "char" || StartsWith(inside, "char,");
    const bool wide = inside == "wchar_t" || StartsWith(inside, "wchar_t,");
    if ((narrow || wide) && out_.compare(word, 6, "basic_") == 0 &&
        EndsWith(std::string_view(out_).substr(0, word), "std::")) {
      out_.replace(word, 6, wide ? "w" : "");
      return;
    }
    out_ += '<';
    if (levels > 0) {
      Type(open + 1, close, levels - 1);
    } else if (!inside.empty()) {
      out_ += options_.ellipsis;
    }
    out_ += '>';
  }

  // A type or a list of them, with template arguments down to `levels`.
  void Type(size_t at, size_t end, int levels) {
    const size_t start = out_.size();
    while (at < end) {
      const size_t match = match_[at] < end ? match_[at] : kNoMatch;
      const char c = name_[at];
      if (c == '<' && match != kNoMatch) {
        if (out_.size() == start || !IsWord(out_.back())) {  // Rust, or an odd expression
          out_ += '<';
          ++at;
          continue;
        }
        Template(at, match, levels);
        at = match + 1;
      } else if (c == ',' && IsDefaultArgument(at, end, &at)) {
        continue;
      } else if (c == ' ' && at + 1 < end && name_[at + 1] == '>') {
        ++at;
      } else if (c == ' ' && at + 1 == end) {
        ++at;  // "vector<vector<int> >"
      } else {
        at = Letter(at);
      }
    }
  }

  // ", std::allocator<T>" and its kin, which nobody wrote.
  bool IsDefaultArgument(size_t comma, size_t end, size_t* after) const {
    size_t at = comma + 1;
    if (at < end && name_[at] == ' ') ++at;
    // How the library's tables work inside.
    static constexpr std::string_view kInner = "std::__detail::";
    if (StartsWith(name_.substr(at, end - at), kInner)) {
      for (at += kInner.size(); at < end && (IsWord(name_[at]) || name_[at] == ':');) ++at;
      if (at < end && name_[at] == '<' && match_[at] < end) at = match_[at] + 1;
      *after = at;
      return true;
    }
    static constexpr std::string_view kDefaults[] = {
        "std::allocator<", "std::char_traits<", "std::default_delete<", "std::less<",
        "std::hash<",      "std::equal_to<",    "std::_Select1st<",     "std::_Identity<"};
    for (const std::string_view argument : kDefaults) {
      if (!StartsWith(name_.substr(at, end - at), argument)) continue;
      const size_t close = match_[at + argument.size() - 1];
      if (close >= end) return false;
      const size_t next = name_.find_first_not_of(' ', close + 1);
      if (next < end && name_[next] != ',') return false;
      *after = std::min(end, close + 1);
      return true;
    }
    return false;
  }

  // Copies one character, or leaves out an inline namespace of the C++ library.
  size_t Letter(size_t at) {
    if (name_[at] == '_' && EndsWith(out_, "::")) {
      for (const std::string_view scope : {"__cxx11::", "__1::"}) {
        if (StartsWith(name_.substr(at), scope)) return at + scope.size();
      }
    }
    out_ += name_[at];
    return at + 1;
  }

  bool IsAnonymous(size_t at) const {
    return StartsWith(name_.substr(at), "(anonymous namespace)");
  }
  bool IsPointer(size_t at) const {
    return StartsWith(name_.substr(at), "(*") || StartsWith(name_.substr(at), "(&");
  }
  std::string_view Since(size_t start) const { return std::string_view(out_).substr(start); }

  std::string_view name_;
  std::vector<size_t> match_;
  ShortNameOptions options_;
  size_t own_ = 0;  // where the function's own component begins
  std::string out_;
};

// The name with template arguments from `from` on folded. Rust's "<T as Trait>" stays.
std::string FoldArguments(std::string_view name, size_t from, const char* ellipsis) {
  const std::vector<size_t> match = MatchBrackets(name);
  std::string out(name.substr(0, from));
  for (size_t i = from; i < name.size(); ++i) {
    const bool arguments = name[i] == '<' && match[i] != kNoMatch && i > 0 && IsWord(name[i - 1]);
    if (arguments && match[i] > i + 1) {
      out.append("<").append(ellipsis).append(">");
      i = match[i];
    } else if (name[i] == '(' && match[i] != kNoMatch) {
      out += name.substr(i, match[i] + 1 - i);
      i = match[i];
    } else {
      out += name[i];
    }
  }
  return out;
}

}  // namespace

std::string ShortName(std::string_view name, const ShortNameOptions& options) {
  // Plain C names, and "module+0x12", have nothing to fold.
  if (name.find_first_of("(<") == kNoMatch && name.find("::") == kNoMatch) return std::string(name);
  return Shortener(name, options).Run();
}

std::string TrimName(std::string_view whole, size_t width, const char* ellipsis) {
  if (DisplayWidth(whole) <= width) return std::string(whole);
  const size_t dots = DisplayWidth(ellipsis);
  if (width <= dots) return std::string(FirstColumns(whole, width));
  const size_t own = Components(whole, MatchBrackets(whole)).back();
  if (std::string folded = FoldArguments(whole, own, ellipsis); DisplayWidth(folded) <= width) {
    return folded;
  }
  const std::string name = FoldArguments(whole, 0, ellipsis);
  if (DisplayWidth(name) <= width) return name;
  const size_t room = width - dots;
  const std::vector<size_t> components = Components(name, MatchBrackets(name));
  // Without outer scopes, as long as there is one left: as many of the inner ones as fit.
  std::string_view inner;
  for (size_t i = components.size() - 1; i-- > 1;) {
    const std::string_view rest = std::string_view(name).substr(components[i] + 2);
    if (DisplayWidth(rest) > room) break;
    inner = rest;
  }
  if (!inner.empty()) return ellipsis + std::string(inner);
  const std::string_view last = std::string_view(name).substr(components.back());
  const size_t needed = DisplayWidth(last);
  if (needed <= room) {
    const size_t head = last.size() == name.size() ? 0 : room - needed;
    return std::string(FirstColumns(name, head)) + ellipsis + std::string(last);
  }
  // Even the last component is too long: its beginning and its end.
  const std::string_view bare = StartsWith(last, "::") ? last.substr(2) : last;
  if (DisplayWidth(bare) <= room) return ellipsis + std::string(bare);
  // Parameters can lose their end.
  const size_t list = bare.find('(', 1);
  if (list != kNoMatch && bare.back() == ')' && DisplayWidth(bare.substr(0, list)) + 4 <= room) {
    return std::string(FirstColumns(bare, room - 1)) + ellipsis + ")";
  }
  const size_t tail = room / 2;
  return std::string(FirstColumns(bare, room - tail)) + ellipsis +
         std::string(LastColumns(bare, tail));
}

}  // namespace heapgauge
