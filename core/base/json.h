// A JSON value to be written: what reports fill with names and figures and print.
//
// Members keep the order in which they were added. nlohmann's library could do it too, and costs
// three seconds in every file that includes it; tests, which read JSON, use it. Values own what
// they hold. A value that is not used by two threads at once needs no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

class Json {
 public:
  struct Member;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : kind_(Kind::kBool), natural_(value ? 1 : 0) {}
  Json(int value) : Json(static_cast<long long>(value)) {}
  Json(long value) : Json(static_cast<long long>(value)) {}
  Json(long long value) : kind_(Kind::kInteger), natural_(static_cast<uint64_t>(value)) {}
  Json(unsigned value) : Json(static_cast<unsigned long long>(value)) {}
  Json(unsigned long value) : Json(static_cast<unsigned long long>(value)) {}
  Json(unsigned long long value) : kind_(Kind::kNatural), natural_(value) {}
  Json(double value) : kind_(Kind::kReal), real_(value) {}
  Json(const char* text) : kind_(Kind::kText), text_(text) {}
  Json(std::string_view text) : kind_(Kind::kText), text_(text) {}
  Json(std::string text);
  Json(const std::vector<std::string>& list);
  Json(const std::vector<double>& list);
  Json(const std::vector<uint32_t>& list);
  // An object: {{"name", name}, {"size", 7}}.
  Json(std::initializer_list<Member> members);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json Array();
  static Json Object();

  bool is_null() const { return kind_ == Kind::kNull; }
  // Whether a list or object has nothing in it.
  bool empty() const { return values_.empty(); }

  // Adds to a list.
  void Add(Json value);
  // The member of that name, a new one with null if there is none yet.
  Json& operator[](std::string_view name);
  void Remove(std::string_view name);
  // All members of the other object, in place of those of the same names.
  void Merge(Json other);

  // On one line, without a space. Broken UTF-8 is replaced (U+FFFD), what is no number is null.
  std::string Line() const;
  // On many lines, two columns for each level, with a line end.
  std::string Text() const;

 private:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kNatural, kReal, kText, kList, kObject };

  // At `depth` levels, on one line if that is negative.
  void Append(int depth, std::string* out) const;

  Kind kind_ = Kind::kNull;
  union {
    uint64_t natural_ = 0;  // integers too, in two's complement
    double real_;
  };
  std::string text_;
  std::vector<std::string> names_;  // of an object's members
  std::vector<Json> values_;        // of a list or an object
};

// Only there to be written in braces: the object takes the value away, which may be a large one.
struct Json::Member {
  std::string name;
  mutable Json value;
};

}  // namespace heapgauge
