#include "core/leaks/scan/check.h"

#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

const char* RootKindName(RootKind kind) {
  switch (kind) {
    case RootKind::kRegister:
      return "register";
    case RootKind::kStack:
      return "stack";
    case RootKind::kWholeStack:
      return "whole stack";
    case RootKind::kThreadLocal:
      return "thread-local";
    case RootKind::kData:
      return "data";
    case RootKind::kMapping:
      return "mapping";
    case RootKind::kEpoll:
      return "epoll";
  }
  return "unknown";
}

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kReachable:
      return "reachable";
    case Kind::kPossible:
      return "possible";
    case Kind::kIndirect:
      return "indirect";
    case Kind::kDefinite:
      return "definite";
  }
  return "unknown";
}

const char* HeuristicName(Heuristic heuristic) {
  switch (heuristic) {
    case Heuristic::kNone:
      return "none";
    case Heuristic::kStdString:
      return "stdstring";
    case Heuristic::kLength64:
      return "length64";
    case Heuristic::kNewArray:
      return "newarray";
    case Heuristic::kMultipleInheritance:
      return "multipleinheritance";
  }
  return "unknown";
}

}  // namespace heapgauge::leaks
