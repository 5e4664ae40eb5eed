// An answer as it goes over the wire: status line, fields, and the body, compressed where the
// client takes it and it is text.
//
// A field that could end its line is made harmless here, whoever made it: a response cannot be
// split. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

struct Answer {
  std::string head;
  std::string body;  // what is sent behind it; "" for HEAD
};

struct AnswerOptions {
  // The method was HEAD: no body, but the fields as if there were one. If the handler has left it
  // out already, its length is not known.
  bool is_head = false;
  bool keep_alive = false;
  bool old_version = false;  // HTTP/1.0, which has to be told that the connection stays
  bool gzip = false;         // texts of some size may be compressed
};

// Takes time if it compresses.
Answer MakeAnswer(Response response, const AnswerOptions& options);

// Whether the value of an Accept-Encoding field allows gzip: "gzip, deflate", not "gzip;q=0".
bool TakesGzip(std::string_view accept_encoding);

// "Not Found"; "" for a status without a usual name.
std::string_view StatusName(int status);

}  // namespace heapgauge::endpoint
