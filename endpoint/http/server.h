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
#ifndef HEAPGAUGE_ENDPOINT_HTTP_SERVER_H_
#define HEAPGAUGE_ENDPOINT_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

struct ServerOptions {
  std::string address;    // "host:port", "[v6]:port", ":port" and "port" on loopback, "unix:PATH"
  std::string token;      // asked for by Basic (any user, this password) or Bearer; "" none
  bool insecure = false;  // without a token also on addresses that others can reach
  unsigned workers = 0;   // threads that call the handler; 0: the one of Run()
  std::function<void()> worker_started;  // called first in each of them, if it is set
  // Which requests do not wait for a worker, if it is set: those that must get through when all of
  // them are busy. The handler must not block on these, since nobody else is served meanwhile.
  std::function<bool(const Request&)> at_once;

  size_t head_bytes = 16 << 10;
  size_t body_bytes = 64 << 20;  // symbol requests of large profiles have megabytes
  // Bodies and answers of all clients, from the first byte that came to the last that went: also of
  // requests that wait for a worker or are worked on. 503 above.
  size_t held_bytes = 256 << 20;
  unsigned connections = 256;
  unsigned connections_per_peer = 64;  // not on unix sockets
  unsigned requests_per_second = 200;  // per peer, in bursts of twice as many
  unsigned head_ms = 10'000;           // to send a whole request head
  unsigned body_ms = 60'000;
  unsigned idle_ms = 30'000;   // between requests of a connection
  unsigned write_ms = 60'000;  // for each 1 MiB of an answer that a client takes
};

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

// The token in a file: its first line without white space around it. Fails if it is empty, shorter
// than 16 characters, or readable by others.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_HTTP_SERVER_H_
