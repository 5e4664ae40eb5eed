// A program to look up: inlined calls, templates, lambdas, overloads, unnamed namespaces, ABI tags,
// exceptions (which make cold parts) and standard containers. What it computes does not matter.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Item {
  std::string name;
  int price = 0;
};

int Scale(int value) { return value * 3 + 1; }
double Scale(double value) { return value * 1.5; }

class Basket {
 public:
  void Add(const std::string& name, int price) {
    if (price < 0) throw std::invalid_argument("price of " + name);
    items_.push_back({name, Scale(price)});
  }
  template <typename Fn>
  int Sum(Fn fn) const {
    int sum = 0;
    for (const Item& item : items_) sum += fn(item);
    return sum;
  }
  void Sort() {
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return a.price != b.price ? a.price < b.price : a.name < b.name;
    });
  }

 private:
  std::vector<Item> items_;
};

}  // namespace

namespace shop {

[[gnu::abi_tag("second")]] int Discount(int sum) {
  return sum - static_cast<int>(Scale(0.1) * sum);
}

int Visit(std::map<std::string, std::unique_ptr<Basket>>* baskets, int rounds) {
  struct Local {
    static int& Seen() {
      static int seen = 0;
      return seen;
    }
    static int Total(int n) { return ++Seen() + n * 2; }
  };
  int total = 0;
  for (int i = 0; i < rounds; ++i) {
    auto& basket = (*baskets)["basket " + std::to_string(i % 7)];
    if (basket == nullptr) basket = std::make_unique<Basket>();
    basket->Add("thing " + std::to_string(i), i % 50);
    basket->Sort();
    total += basket->Sum([&](const Item& item) { return item.price + Local::Total(i); });
  }
  return Discount(total);
}

}  // namespace shop

int main(int argc, char** argv) {
  std::map<std::string, std::unique_ptr<Basket>> baskets;
  try {
    std::printf("%d\n", shop::Visit(&baskets, 200 * argc));
    baskets.begin()->second->Add(argv[0], -1);
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  return 0;
}
