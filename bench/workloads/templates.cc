// clang++'s workload: a translation unit that keeps the compiler busy with templates.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

template <int N>
struct Node {
  std::tuple<int, double, std::string> value;
  std::map<int, std::vector<std::unique_ptr<Node<N - 1>>>> children;
  template <typename F>
  int Visit(F f) {
    int sum = f(std::get<0>(value)) + N;
    for (auto& [key, list] : children) {
      for (auto& child : list) sum += key + child->Visit([&](int x) { return f(x) + N; });
    }
    return sum;
  }
};

template <>
struct Node<0> {
  std::string value;
  template <typename F>
  int Visit(F f) {
    return f(static_cast<int>(value.size()));
  }
};

template <int... I>
int Use(std::integer_sequence<int, I...>) {
  std::vector<std::string> names = {std::to_string(I)...};
  std::sort(names.begin(), names.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  return static_cast<int>(names.size()) +
         (0 + ... + Node<I % 3>{}.Visit([](int x) { return x + I; }));
}

int main() { return Use(std::make_integer_sequence<int, 6>{}); }
