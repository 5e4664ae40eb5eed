// The service: a queue of requests that worker threads take in turn.
//
// Requests are made up inside the process at a steady rate, so no network and no client is needed.
// Every route lands in another part of the service, and each part has its own way with memory:
//   every request  ParseRequest: large, short-lived buffers (churn)
//   /login/        SessionStore: one token each that is never given back (leak)
//   /picture/      ThumbnailCache: grows without limit (cache)
//   /page/         the template plugin: some memory that stays, some churn
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SERVICE_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SERVICE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "examples/demo_service/request.h"
#include "examples/demo_service/session_store.h"
#include "examples/demo_service/template_engine.h"
#include "examples/demo_service/thumbnail_cache.h"

namespace demo {

class Service {
 public:
  // Returns what went wrong, or an empty text.
  std::string Start() { return templates_.Load(); }

  // Serves `requests_per_second` with `workers` threads for `seconds`, then returns.
  void Run(int workers, int requests_per_second, double seconds);

  // Prints, for every part, the bytes it holds now and the bytes it has ever asked for.
  void PrintUsage() const;

 private:
  void GenerateRequests(int requests_per_second, double seconds);
  void WorkerLoop();
  bool TakeArrival(Arrival* arrival);
  void HandleRequest(const Arrival& arrival);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> queue_;
  bool closed_ = false;
  uint64_t served_ = 0;

  Account churn_;
  SessionStore sessions_;
  ThumbnailCache thumbnails_;
  TemplateEngine templates_;
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SERVICE_H_
