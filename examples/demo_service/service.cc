#include "examples/demo_service/service.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace demo {
namespace {

// A small generator of numbers that look random (splitmix64's step), the same in every run.
uint64_t Scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

void PrintRow(const char* part, uint64_t live, uint64_t allocated) {
  // As heapgauge counts them, so that figures can be compared.
  constexpr double kMegabyte = 1024.0 * 1024.0;
  std::printf("  %-26s %9.1f MB %12.1f MB\n", part, static_cast<double>(live) / kMegabyte,
              static_cast<double>(allocated) / kMegabyte);
}

}  // namespace

void Service::Run(int workers, int requests_per_second, double seconds) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(workers));
  for (int i = 0; i < workers; ++i) threads.emplace_back([this] { WorkerLoop(); });
  GenerateRequests(requests_per_second, seconds);
  for (std::thread& thread : threads) thread.join();
}

void Service::GenerateRequests(int requests_per_second, double seconds) {
  constexpr auto kBatch = std::chrono::milliseconds(10);
  const int per_batch = requests_per_second / 100;
  const auto batches = static_cast<uint64_t>(seconds * 100);
  auto next = std::chrono::steady_clock::now();
  uint64_t id = 0;
  for (uint64_t batch = 0; batch < batches; ++batch) {
    {
      const std::lock_guard lock(mutex_);
      for (int i = 0; i < per_batch; ++i, ++id) queue_.push_back({id, Scramble(id)});
    }
    changed_.notify_all();
    next += kBatch;
    std::this_thread::sleep_until(next);
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Service::WorkerLoop() {
  Arrival arrival;
  while (TakeArrival(&arrival)) HandleRequest(arrival);
}

bool Service::TakeArrival(Arrival* arrival) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
  if (queue_.empty()) return false;
  *arrival = queue_.front();
  queue_.pop_front();
  ++served_;
  return true;
}

void Service::HandleRequest(const Arrival& arrival) {
  const Request request = ParseRequest(arrival, &churn_);
  switch (request.route) {
    case Route::kLogin:
      sessions_.Login(request.user);
      break;
    case Route::kPicture:
      thumbnails_.Lookup(request.object);
      break;
    case Route::kPage:
      templates_.Render(request.object % 4000, request.user);
      break;
  }
}

void Service::PrintUsage() const {
  const TemplatePluginUsage plugin = templates_.usage();
  std::printf("demo_service: %lu requests served; its own count of payload bytes:\n", served_);
  std::printf("  %-26s %12s %15s\n", "part", "live", "ever allocated");
  PrintRow("GrowThumbnailCache", thumbnails_.account().live(), thumbnails_.account().allocated());
  PrintRow("LeakSessionToken", sessions_.account().live(), sessions_.account().allocated());
  PrintRow("RenderTemplate (plugin)", plugin.live, plugin.allocated);
  PrintRow("ChurnRequestBuffer", churn_.live(), churn_.allocated());
}

}  // namespace demo
