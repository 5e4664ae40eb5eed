// A small HTTP/1.1 server for the endpoint: one thread, poll, and limits on everything a client can
// use up. It exists because the limits are the point: total time for a request head and body, bytes
// of each, connections in all and per peer, requests per second, a reply that is promised for later
// without a thread waiting for it. Web frameworks that were tried bound some of these, none all.
//
// Answers: 400 malformed, 401 without the token, 403 from a foreign page, 408 too slow, 413/414/431
// too large, 417 and 501 what is not known here, 421 for a foreign host name, 429 too many
// requests, 503 too many connections, 505 another HTTP; each as plain text and closed. Where the
// limit of connections is reached, those that have nothing to say make room.
//
// A reply that was promised is dropped, and its function destroyed without a call, when its client
// goes away. Text goes out compressed to clients that ask for gzip.
//
// Threads: Run() belongs to one; Stop() may be called by any, also in a signal handler. The handler
// is called in Run()'s thread, or, with ServerOptions::workers, in so many others at a time; and
// then in Run()'s beside them for what `at_once` chooses. A request whose client has reset its
// connection is dropped if no worker has begun with it.
//
// Memory: a handler that throws, and an answer for which there is no memory, is 500. Where there is
// not even enough to say so, the connection is closed; others stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "endpoint/base/message.h"
#include "endpoint/http/limits.h"

namespace heapgauge::endpoint {

class Server {
 public:
  using Handler = std::function<Reply(const Request&)>;

  // Binds and listens; an address that others can reach needs a token or `insecure`. The error says
  // what to do.
  static Result<std::unique_ptr<Server>> Listen(const ServerOptions& options, Handler handler);
  virtual ~Server() = default;

  // Until Stop(). Replies under way are finished, within a second.
  virtual void Run() = 0;
  virtual void Stop() = 0;

  // As a client would write it: "http://127.0.0.1:9700" (the real port if 0 was asked for) or
  // "unix:PATH".
  virtual std::string url() const = 0;
};

}  // namespace heapgauge::endpoint
