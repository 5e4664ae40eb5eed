// A file that keeps a compiler busy with templates.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <int kN>
struct Chain {
  using Type = std::tuple<typename Chain<kN - 1>::Type, std::map<int, std::vector<std::string>>>;
  static int Sum() { return kN + Chain<kN - 1>::Sum(); }
};
template <>
struct Chain<0> {
  using Type = std::tuple<int>;
  static int Sum() { return 0; }
};

int UseVariant(const std::variant<int, double, std::string>& value) {
  return std::visit([](const auto& v) { return static_cast<int>(sizeof v); }, value);
}

int UseRegex(const std::string& text) {
  const std::regex expression("([a-z]+)(\\d+)");
  int sum = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) {
    sum += static_cast<int>(i->length());
  }
  return sum;
}

int main(int argc, char** argv) {
  std::unordered_map<std::string, std::shared_ptr<std::function<int(int)>>> table;
  for (int i = 0; i < argc; ++i) {
    table[argv[i]] = std::make_shared<std::function<int(int)>>([i](int x) { return x + i; });
  }
  std::vector<int> numbers;
  for (const auto& [name, function] : table) numbers.push_back((*function)(UseRegex(name)));
  std::stable_sort(numbers.begin(), numbers.end(), std::greater<>());
  return Chain<60>::Sum() + UseVariant(argc) + static_cast<int>(sizeof(Chain<60>::Type)) +
         (numbers.empty() ? 0 : numbers[0]);
}
