#include "net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace strata::net {
namespace {

constexpr int kLevel = 1;         // as a real API server does
constexpr int kWindow = 15 + 16;  // 15: the largest; 16: a header of gzip, not of zlib
constexpr int kMemory = 8;        // zlib's own default
constexpr std::size_t kRoom = 16384;

class Deflater {
 public:
  Deflater() {
    CHECK(deflateInit2(&stream_, kLevel, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) == Z_OK);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  // `flush` is Z_NO_FLUSH, Z_SYNC_FLUSH or, for the last time, Z_FINISH.
  void Append(std::string_view text, int flush, std::string& out) {
    constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
    do {
      const std::string_view part = text.substr(0, kMax);
      text.remove_prefix(part.size());
      Deflate(part, text.empty() ? flush : Z_NO_FLUSH, out);
    } while (!text.empty());
  }

 private:
  void Deflate(std::string_view text, int flush, std::string& out) {
    // zlib only reads from here; its type is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      std::array<char, kRoom> room;
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      stream_.avail_out = static_cast<uInt>(room.size());
      const int result = deflate(&stream_, flush);
      CHECK(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
      out.append(room.data(), room.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

class CompressedSource final : public BodySource {
 public:
  explicit CompressedSource(std::unique_ptr<BodySource> source) : source_(std::move(source)) {}

  More Pull(std::string& out) override {
    piece_.clear();
    const More more = source_->Pull(piece_);
    if (more == More::kAbort) return more;
    int flush = Z_NO_FLUSH;
    if (more == More::kLater) flush = Z_SYNC_FLUSH;
    if (more == More::kEnd) flush = Z_FINISH;
    deflater_.Append(piece_, flush, out);
    return more;
  }

 private:
  std::unique_ptr<BodySource> source_;
  Deflater deflater_;
  std::string piece_;
};

}  // namespace

bool AcceptsGzip(const HttpRequest& request) {
  for (const std::string_view clause : Split(request.HeaderValue("Accept-Encoding"), ',')) {
    const std::vector<std::string_view> parts = Split(clause, ';');
    if (LowerCase(Trim(parts[0])) != "gzip") continue;
    return parts.size() == 1 || !Trim(parts[1]).starts_with("q=0") ||
           Trim(parts[1]).find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

std::string Gzip(std::string_view text) {
  std::string out;
  Deflater().Append(text, Z_FINISH, out);
  return out;
}

std::unique_ptr<BodySource> GzipSource(std::unique_ptr<BodySource> source) {
  return std::make_unique<CompressedSource>(std::move(source));
}

}  // namespace strata::net
