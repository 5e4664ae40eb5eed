#include "core/base/units.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace heapgauge {
namespace {

enum class Kind { kMemory, kTime, kCompute };

struct Unit {
  const char* name;
  Kind kind;
  double factor;
};

constexpr double kKilo = 1024;
constexpr Unit kUnits[] = {
    {"b", Kind::kMemory, 1},
    {"byte", Kind::kMemory, 1},
    {"kb", Kind::kMemory, kKilo},
    {"kbyte", Kind::kMemory, kKilo},
    {"kilobyte", Kind::kMemory, kKilo},
    {"mb", Kind::kMemory, kKilo* kKilo},
    {"mbyte", Kind::kMemory, kKilo* kKilo},
    {"megabyte", Kind::kMemory, kKilo* kKilo},
    {"gb", Kind::kMemory, kKilo* kKilo* kKilo},
    {"gbyte", Kind::kMemory, kKilo* kKilo* kKilo},
    {"gigabyte", Kind::kMemory, kKilo* kKilo* kKilo},
    {"tb", Kind::kMemory, kKilo* kKilo* kKilo* kKilo},
    {"tbyte", Kind::kMemory, kKilo* kKilo* kKilo* kKilo},
    {"terabyte", Kind::kMemory, kKilo* kKilo* kKilo* kKilo},
    {"pb", Kind::kMemory, kKilo* kKilo* kKilo* kKilo* kKilo},
    {"pbyte", Kind::kMemory, kKilo* kKilo* kKilo* kKilo* kKilo},
    {"petabyte", Kind::kMemory, kKilo* kKilo* kKilo* kKilo* kKilo},
    {"ns", Kind::kTime, 1},
    {"nanosecond", Kind::kTime, 1},
    {"us", Kind::kTime, 1e3},
    {"\u03bcs", Kind::kTime, 1e3},
    {"microsecond", Kind::kTime, 1e3},
    {"ms", Kind::kTime, 1e6},
    {"millisecond", Kind::kTime, 1e6},
    {"s", Kind::kTime, 1e9},
    {"sec", Kind::kTime, 1e9},
    {"second", Kind::kTime, 1e9},
    {"hr", Kind::kTime, 3600e9},
    {"hour", Kind::kTime, 3600e9},
    {"nanogcu", Kind::kCompute, 1e-9},
    {"microgcu", Kind::kCompute, 1e-6},
    {"milligcu", Kind::kCompute, 1e-3},
    {"gcu", Kind::kCompute, 1},
    {"kilogcu", Kind::kCompute, 1e3},
    {"megagcu", Kind::kCompute, 1e6},
    {"gigagcu", Kind::kCompute, 1e9},
    {"teragcu", Kind::kCompute, 1e12},
    {"petagcu", Kind::kCompute, 1e15},
};

const Unit* Find(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const bool plural : {false, true}) {
    if (plural && (lower.size() < 3 || lower.back() != 's')) break;
    if (plural) lower.pop_back();
    for (const Unit& unit : kUnits) {
      if (lower == unit.name) return &unit;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<double> UnitRatio(std::string_view from, std::string_view to) {
  if (from == to) return 1;
  const Unit* a = Find(from);
  const Unit* b = Find(to);
  if (a == nullptr || b == nullptr || a->kind != b->kind) return std::nullopt;
  return a->factor / b->factor;
}

}  // namespace heapgauge
