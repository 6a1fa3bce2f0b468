#include "net/chunk_reader.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace strata::net {
namespace {

constexpr std::size_t kLongestLine = 4096;
// Long extensions on tiny chunks would make a small body cost gigabytes of reading.
constexpr std::size_t kFreeOverhead = std::size_t{16} << 10U;
constexpr std::size_t kOverheadPerByte = 16;
constexpr std::size_t kMaxDigits = 15;  // of a size, so that it never overflows

}  // namespace

std::size_t ChunkReader::Feed(std::string_view bytes) {
  CHECK(state_ == State::kMore);
  std::size_t taken = 0;
  while (state_ == State::kMore) {
    const std::size_t step = Step(bytes.substr(taken));
    if (step == 0) break;
    taken += step;
  }
  return taken;
}

std::size_t ChunkReader::Step(std::string_view bytes) {
  if (part_ == Part::kData) return TakeData(bytes);
  const std::size_t end = bytes.find("\r\n");
  if (std::min(end, bytes.size()) > kLongestLine) {
    state_ = State::kBad;
    return 0;
  }
  if (end == std::string_view::npos) return 0;
  TakeLine(bytes.substr(0, end));
  overhead_ += end + 2;
  if (overhead_ > kFreeOverhead + kOverheadPerByte * body_.size()) state_ = State::kBad;
  return end + 2;
}

std::size_t ChunkReader::TakeData(std::string_view bytes) {
  const std::size_t count = std::min(in_chunk_, bytes.size());
  body_ += bytes.substr(0, count);
  in_chunk_ -= count;
  if (in_chunk_ == 0) part_ = Part::kEndOfData;
  return count;
}

void ChunkReader::TakeLine(std::string_view line) {
  switch (part_) {
    case Part::kSize:
      return BeginChunk(line);
    case Part::kEndOfData:
      part_ = Part::kSize;
      if (!line.empty()) state_ = State::kBad;
      return;
    case Part::kTrailer:
      if (line.empty()) {
        state_ = State::kDone;
      } else if (line.find(':') == std::string_view::npos) {
        state_ = State::kBad;
      }
      return;
    case Part::kData:
      break;
  }
}

void ChunkReader::BeginChunk(std::string_view line) {
  const std::string_view size = line.substr(0, line.find_first_of("; \t"));
  const std::string_view extension = line.substr(size.size());
  const std::size_t mark = extension.find_first_not_of(" \t");
  const bool odd_end = mark != std::string_view::npos && extension[mark] != ';';
  std::size_t count = 0;
  const char* const end = size.data() + size.size();
  const auto [stop, error] = std::from_chars(size.data(), end, count, 16);
  if (odd_end || size.size() > kMaxDigits || error != std::errc() || stop != end ||
      line.find_first_of("\r\n") != std::string_view::npos) {
    state_ = State::kBad;
  } else if (count > left_) {
    state_ = State::kTooLarge;
  } else {
    left_ -= count;
    in_chunk_ = count;
    part_ = count == 0 ? Part::kTrailer : Part::kData;
  }
}

}  // namespace strata::net
