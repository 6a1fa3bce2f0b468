// A request is read the same way whether its bytes come at once or one by one, and never more is
// taken than was given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http_wire.h"

namespace {

using strata::net::RequestReader;

bool Wants(const RequestReader& reader) {
  return reader.state() == RequestReader::State::kHead ||
         reader.state() == RequestReader::State::kBody;
}

// Ends when the reader has what it wants or there is nothing more.
void FeedInPieces(RequestReader& reader, std::string_view text, std::size_t piece) {
  std::string waiting;
  while (!text.empty() && Wants(reader)) {
    waiting += text.substr(0, piece);
    text.remove_prefix(std::min(piece, text.size()));
    std::size_t taken = 0;
    do {  // the reader stops between head and body
      taken = reader.Feed(waiting);
      CHECK(taken <= waiting.size());
      waiting.erase(0, taken);
    } while (taken > 0 && !waiting.empty() && Wants(reader));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  RequestReader whole(1000);
  RequestReader pieces(1000);
  FeedInPieces(whole, text, text.size());
  FeedInPieces(pieces, text, 1);
  if (whole.state() != RequestReader::State::kDone) return 0;
  CHECK(pieces.state() == RequestReader::State::kDone);
  const strata::net::HttpRequest request = whole.Take();
  const strata::net::HttpRequest again = pieces.Take();
  CHECK(request.path == again.path && request.body == again.body);
  CHECK(
      !strata::net::ResponseHead({.status = 200, .headers = request.headers, .body = request.body},
                                 strata::net::Framing::kLength,
                                 true)
           .empty());
  return 0;
}
