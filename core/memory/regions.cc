#include "core/memory/regions.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/model/estimate.h"

namespace heapgauge {
namespace {

std::string PermissionsOf(const MappingUsage& m) {
  std::string text = "----";
  if (m.readable) text[0] = 'r';
  if (m.writable) text[1] = 'w';
  if (m.executable) text[2] = 'x';
  text[3] = m.shared ? 's' : 'p';
  return text;
}

// The part of `amount` that falls to `part` of `whole`.
uint64_t ShareOf(uint64_t amount, uint64_t part, uint64_t whole) {
  if (part >= whole) return amount;
  return static_cast<uint64_t>(static_cast<double>(amount) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

std::vector<Region> Joined(const MemorySurvey& survey) {
  const std::vector<MappingUsage>& mappings = survey.smaps.mappings;
  std::vector<uint64_t> resident(mappings.size());  // of all pieces
  for (const Piece& piece : survey.pieces) {
    if (piece.mapping < mappings.size()) resident[piece.mapping] += piece.resident;
  }
  std::vector<Region> regions;
  for (const Piece& piece : survey.pieces) {
    if (piece.mapping >= mappings.size()) continue;
    const MappingUsage& m = mappings[piece.mapping];
    Region region;
    region.start = piece.start;
    region.end = piece.end;
    region.owner = piece.owner;
    region.name = m.name;
    region.permissions = PermissionsOf(m);
    region.resident = piece.resident;
    const bool by_size = resident[piece.mapping] == 0;
    const uint64_t part = by_size ? piece.end - piece.start : piece.resident;
    const uint64_t whole = by_size ? m.size() : resident[piece.mapping];
    region.dirty = ShareOf(m.shared_dirty + m.private_dirty, part, whole);
    region.swapped = ShareOf(m.swapped, part, whole);
    Region* last = regions.empty() ? nullptr : &regions.back();
    if (last != nullptr && last->end == region.start && last->owner == region.owner &&
        last->name == region.name && last->permissions == region.permissions) {
      last->end = region.end;
      last->resident += region.resident;
      last->dirty += region.dirty;
      last->swapped += region.swapped;
    } else {
      regions.push_back(std::move(region));
    }
  }
  return regions;
}

// What the samples say is live in each region.
void AddBlocks(const Profile& profile, std::vector<Region>* regions) {
  std::map<std::pair<size_t, RowId>, double> of_rows;
  for (const SampledBlock& block : profile.blocks) {
    const auto behind = std::upper_bound(
        regions->begin(), regions->end(), block.address,
        [](uint64_t address, const Region& region) { return address < region.start; });
    if (behind == regions->begin()) continue;
    Region& region = behind[-1];
    if (block.address >= region.end) continue;
    const double bytes = WeightOf(block.size, block.interval).bytes;
    region.live_bytes += bytes;
    ++region.samples;
    double& of_row = of_rows[{static_cast<size_t>(&region - regions->data()), block.row}];
    of_row += bytes;
    if (of_row > region.largest_bytes) {
      region.largest = block.row;
      region.largest_bytes = of_row;
    }
  }
}

}  // namespace

Regions RegionsOf(const MemorySurvey& survey, const Profile& profile, size_t most) {
  Regions result;
  result.regions = Joined(survey);
  AddBlocks(profile, &result.regions);
  std::map<Owner, OwnerSum> sums;
  for (const Region& region : result.regions) {
    OwnerSum& sum = sums[region.owner];
    sum.owner = region.owner;
    ++sum.regions;
    sum.bytes += region.end - region.start;
    sum.resident += region.resident;
    sum.dirty += region.dirty;
    sum.swapped += region.swapped;
    sum.live_bytes += region.live_bytes;
  }
  for (const auto& [owner, sum] : sums) result.owners.push_back(sum);
  std::stable_sort(result.owners.begin(), result.owners.end(),
                   [](const OwnerSum& a, const OwnerSum& b) { return a.resident > b.resident; });
  if (result.regions.size() <= most) return result;
  std::vector<Region>& regions = result.regions;
  std::stable_sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
    return a.resident != b.resident ? a.resident > b.resident : a.swapped > b.swapped;
  });
  result.left_out = regions.size() - most;
  for (size_t i = most; i < regions.size(); ++i) result.left_out_resident += regions[i].resident;
  regions.resize(most);
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.start < b.start; });
  return result;
}

}  // namespace heapgauge
