#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::net {

// Reads a body that comes in chunks (RFC 9112, section 7.1), however its bytes are cut. Extensions
// and trailers are read over. Lines end in CR LF and nothing else: what two readers could
// understand in two ways is refused.
class ChunkReader {
 public:
  enum class State : std::uint8_t {
    kMore,      // wants more bytes
    kDone,      // the body is whole
    kBad,       // no chunks
    kTooLarge,  // more than may come
  };

  explicit ChunkReader(std::size_t max_body_bytes) : left_(max_body_bytes) {}

  // Takes what it can from the front of `bytes` and returns how many that was; the rest comes again
  // with the next call, with more behind it. REQUIRES: kMore.
  std::size_t Feed(std::string_view bytes);

  [[nodiscard]] State state() const { return state_; }
  // What has come so far.
  [[nodiscard]] std::string& body() { return body_; }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  enum class Part : std::uint8_t { kSize, kData, kEndOfData, kTrailer };

  // One step: what it took, 0 when it needs more bytes or the state is no longer kMore.
  std::size_t Step(std::string_view bytes);
  std::size_t TakeData(std::string_view bytes);
  void TakeLine(std::string_view line);
  void BeginChunk(std::string_view line);

  std::size_t left_;          // that may still come
  std::size_t in_chunk_ = 0;  // that belong to the present chunk
  std::size_t overhead_ = 0;  // bytes that were not part of the body
  State state_ = State::kMore;
  Part part_ = Part::kSize;
  std::string body_;
};

}  // namespace strata::net
