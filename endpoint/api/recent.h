// The last few of something by name: answers that are made once and asked for again.
//
// Not synchronised.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <utility>

namespace heapgauge::endpoint::api {

template <typename Value>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  // Null if there is none; else it counts as the newest.
  Value* Find(const std::string& name) {
    for (auto at = list_.begin(); at != list_.end(); ++at) {
      if (at->first != name) continue;
      list_.splice(list_.begin(), list_, at);
      return &list_.front().second;
    }
    return nullptr;
  }

  void Forget(const std::string& name) {
    list_.remove_if([&](const auto& entry) { return entry.first == name; });
  }

  Value& Keep(const std::string& name, Value value) {
    Forget(name);
    list_.emplace_front(name, std::move(value));
    if (list_.size() > most_) list_.pop_back();
    return list_.front().second;
  }

 private:
  const size_t most_;
  std::list<std::pair<std::string, Value>> list_;  // the newest first
};

}  // namespace heapgauge::endpoint::api
