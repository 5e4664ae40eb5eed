#include "core/report/draw/layered.h"

#include <algorithm>
#include <cmath>

namespace heapgauge {
namespace {

constexpr double kGapX = 24;
constexpr double kGapY = 46;
constexpr int kRounds = 12;
// Places that arrows take in layers they pass. Beyond, long arrows go straight.
constexpr size_t kMostPlaces = 20'000;

// Something that stands in a layer: a box, or where a long arrow passes through.
struct Item {
  uint32_t layer = 0;
  double width = 0;
  double x = 0;
  std::vector<std::pair<uint32_t, double>> up;  // items of the layer above, weight
  std::vector<std::pair<uint32_t, double>> down;
};

class LayerPlacer {
 public:
  explicit LayerPlacer(LayeredGraph* graph) : graph_(*graph) {}

  void Run() {
    FindBackArrows();
    AssignLayers();
    MakeItems();
    Order();
    PlaceX();
    PlaceY();
    DrawArrows();
  }

 private:
  size_t count() const { return graph_.boxes.size(); }

  // Arrows that close a cycle count the other way round. Depth first without recursion: chains of
  // calls can be long.
  void FindBackArrows() {
    reversed_.assign(graph_.arrows.size(), false);
    std::vector<std::vector<uint32_t>> out(count());
    for (uint32_t a = 0; a < graph_.arrows.size(); ++a) out[graph_.arrows[a].from].push_back(a);
    enum : uint8_t { kNew, kOpen, kDone };
    std::vector<uint8_t> state(count(), kNew);
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t root = 0; root < count(); ++root) {
      if (state[root] != kNew) continue;
      path.emplace_back(root, 0);
      state[root] = kOpen;
      while (!path.empty()) {
        auto& [box, next] = path.back();
        if (next == out[box].size()) {
          state[box] = kDone;
          path.pop_back();
          continue;
        }
        const uint32_t arrow = out[box][next++];
        const uint32_t to = graph_.arrows[arrow].to;
        if (state[to] == kOpen) {
          reversed_[arrow] = true;
        } else if (state[to] == kNew) {
          state[to] = kOpen;
          path.emplace_back(to, 0);
        }
      }
    }
  }

  uint32_t Upper(size_t arrow) const {
    return reversed_[arrow] ? graph_.arrows[arrow].to : graph_.arrows[arrow].from;
  }
  uint32_t Lower(size_t arrow) const {
    return reversed_[arrow] ? graph_.arrows[arrow].from : graph_.arrows[arrow].to;
  }

  // Each box one below the lowest that calls it.
  void AssignLayers() {
    layer_.assign(count(), 0);
    std::vector<uint32_t> waits(count(), 0);
    std::vector<std::vector<uint32_t>> below(count());
    for (size_t a = 0; a < graph_.arrows.size(); ++a) {
      if (Upper(a) == Lower(a)) continue;
      ++waits[Lower(a)];
      below[Upper(a)].push_back(Lower(a));
    }
    std::vector<uint32_t> ready;
    for (uint32_t box = 0; box < count(); ++box) {
      if (waits[box] == 0) ready.push_back(box);
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      for (const uint32_t box : below[ready[i]]) {
        layer_[box] = std::max(layer_[box], layer_[ready[i]] + 1);
        if (--waits[box] == 0) ready.push_back(box);
      }
    }
  }

  void MakeItems() {
    for (uint32_t box = 0; box < count(); ++box) {
      Item item;
      item.layer = layer_[box];
      item.width = graph_.boxes[box].width;
      items_.push_back(std::move(item));
    }
    places_.resize(graph_.arrows.size());
    for (size_t a = 0; a < graph_.arrows.size(); ++a) {
      const uint32_t upper = Upper(a);
      const uint32_t lower = Lower(a);
      if (upper == lower) continue;
      const size_t passes = layer_[lower] - layer_[upper] - 1;
      if (items_.size() + passes > count() + kMostPlaces) continue;
      uint32_t last = upper;
      for (uint32_t layer = layer_[upper] + 1; layer < layer_[lower]; ++layer) {
        const auto place = static_cast<uint32_t>(items_.size());
        Item item;
        item.layer = layer;
        item.width = 4;
        items_.push_back(std::move(item));
        places_[a].push_back(place);
        Join(last, place, 4 * graph_.arrows[a].weight);
        last = place;
      }
      Join(last, lower, graph_.arrows[a].weight);
    }
    const uint32_t deepest = layer_.empty() ? 0 : *std::max_element(layer_.begin(), layer_.end());
    layers_.resize(deepest + 1);
    for (uint32_t i = 0; i < items_.size(); ++i) layers_[items_[i].layer].push_back(i);
  }

  void Join(uint32_t upper, uint32_t lower, double weight) {
    weight = std::isfinite(weight) ? std::max(weight, 1e-6) : 1;
    items_[upper].down.emplace_back(lower, weight);
    items_[lower].up.emplace_back(upper, weight);
  }

  // Sorts each layer by the mean place of its neighbours, downwards and upwards in turn.
  void Order() {
    std::vector<double> place(items_.size());
    const auto number = [&](const std::vector<uint32_t>& layer) {
      for (size_t i = 0; i < layer.size(); ++i) {
        place[layer[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
      }
    };
    for (const auto& layer : layers_) number(layer);
    for (int round = 0; round < kRounds; ++round) {
      const bool downwards = round % 2 == 0;
      for (size_t i = 0; i < layers_.size(); ++i) {
        auto& layer = layers_[downwards ? i : layers_.size() - 1 - i];
        std::vector<std::pair<double, uint32_t>> keyed;
        for (const uint32_t item : layer) {
          const auto& near = downwards ? items_[item].up : items_[item].down;
          double sum = 0;
          double weight = 0;
          for (const auto& [other, w] : near) {
            sum += w * place[other];
            weight += w;
          }
          keyed.emplace_back(weight > 0 ? sum / weight : place[item], item);
        }
        std::stable_sort(keyed.begin(), keyed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t k = 0; k < layer.size(); ++k) layer[k] = keyed[k].second;
        number(layer);
      }
    }
  }

  // Moves the items of a layer as near to where their neighbours want them as their order and
  // widths allow: least squares, by merging runs that push against each other.
  void Settle(const std::vector<uint32_t>& layer, bool by_upper, bool by_lower) {
    struct Run {
      double sum = 0;
      double weight = 0;
      size_t first = 0;
      double mean() const { return sum / weight; }
    };
    std::vector<double> offset(layer.size());
    std::vector<Run> runs;
    for (size_t i = 0; i < layer.size(); ++i) {
      const Item& item = items_[layer[i]];
      if (i > 0) {
        offset[i] = offset[i - 1] + (items_[layer[i - 1]].width + item.width) / 2 + kGapX;
      }
      double sum = 1e-3 * item.x;  // rather where it is
      double weight = 1e-3;
      const auto pull = [&](const auto& near) {
        for (const auto& [other, w] : near) {
          sum += w * items_[other].x;
          weight += w;
        }
      };
      if (by_upper) pull(item.up);
      if (by_lower) pull(item.down);
      runs.push_back({sum - weight * offset[i], weight, i});
      while (runs.size() > 1 && runs[runs.size() - 2].mean() > runs.back().mean()) {
        const Run last = runs.back();
        runs.pop_back();
        runs.back().sum += last.sum;
        runs.back().weight += last.weight;
      }
    }
    for (size_t r = 0; r < runs.size(); ++r) {
      const size_t end = r + 1 < runs.size() ? runs[r + 1].first : layer.size();
      for (size_t i = runs[r].first; i < end; ++i) {
        items_[layer[i]].x = runs[r].mean() + offset[i];
      }
    }
  }

  void PlaceX() {
    for (const auto& layer : layers_) Settle(layer, false, false);
    for (int round = 0; round < kRounds; ++round) {
      for (const auto& layer : layers_) Settle(layer, true, round > 1);
      for (size_t i = layers_.size(); i-- > 0;) Settle(layers_[i], round > 1, true);
    }
    double left = 0;
    double right = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      const double half = items_[i].width / 2;
      left = i == 0 ? items_[i].x - half : std::min(left, items_[i].x - half);
      right = i == 0 ? items_[i].x + half : std::max(right, items_[i].x + half);
    }
    for (Item& item : items_) item.x -= left;
    graph_.width = right - left;
    for (size_t box = 0; box < count(); ++box) graph_.boxes[box].x = items_[box].x;
  }

  void PlaceY() {
    std::vector<double> tall(layers_.size(), 0);
    for (size_t box = 0; box < count(); ++box) {
      tall[layer_[box]] = std::max(tall[layer_[box]], graph_.boxes[box].height);
    }
    middle_.resize(layers_.size());
    double y = 0;
    for (size_t i = 0; i < layers_.size(); ++i) {
      middle_[i] = y + tall[i] / 2;
      y += tall[i] + kGapY;
    }
    graph_.height = std::max(0.0, y - kGapY);
    for (size_t box = 0; box < count(); ++box) graph_.boxes[box].y = middle_[layer_[box]];
  }

  void DrawArrows() {
    for (size_t a = 0; a < graph_.arrows.size(); ++a) {
      LayeredArrow& arrow = graph_.arrows[a];
      arrow.path.clear();
      if (arrow.from == arrow.to) continue;
      const LayeredBox& upper = graph_.boxes[Upper(a)];
      const LayeredBox& lower = graph_.boxes[Lower(a)];
      arrow.path.push_back({upper.x, upper.y + upper.height / 2});
      for (const uint32_t place : places_[a]) {
        arrow.path.push_back({items_[place].x, middle_[items_[place].layer]});
      }
      arrow.path.push_back({lower.x, lower.y - lower.height / 2});
      if (reversed_[a]) std::reverse(arrow.path.begin(), arrow.path.end());
    }
  }

  LayeredGraph& graph_;
  std::vector<bool> reversed_;                 // by arrow
  std::vector<uint32_t> layer_;                // by box
  std::vector<Item> items_;                    // boxes first
  std::vector<std::vector<uint32_t>> places_;  // by arrow: items it passes, from above
  std::vector<std::vector<uint32_t>> layers_;  // items from left to right
  std::vector<double> middle_;                 // by layer
};

}  // namespace

void LayOutInLayers(LayeredGraph* graph) {
  if (graph->boxes.empty()) {
    graph->width = graph->height = 0;
    return;
  }
  LayerPlacer(graph).Run();
}

}  // namespace heapgauge
