#include "replay/input_files.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace strata::replay {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window; 16: a header of gzip
constexpr std::size_t kChunk = 1 << 16U;

tl::unexpected<Error> BadGzip(std::string_view what) {
  return Fail(Code::kInvalidArgument, fmt::format("gzip: {}", what));
}

}  // namespace

Result<std::string> Decompressed(std::string bytes, std::size_t most) {
  if (!bytes.starts_with("\x1F\x8B")) return bytes;
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzipOnly) == Z_OK);
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
  std::string out;
  std::array<char, kChunk> room;
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  std::size_t left = bytes.size();
  while (true) {
    if (stream.avail_in == 0) {
      stream.avail_in =
          static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
      left -= stream.avail_in;
    }
    if (stream.avail_in == 0) return BadGzip("the data ends too early");
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) return BadGzip("the data is damaged");
    out.append(room.data(), room.size() - stream.avail_out);
    if (out.size() > most) return BadGzip(fmt::format("more than {} bytes", most));
    if (result != Z_STREAM_END) continue;
    if (stream.avail_in == 0 && left == 0) return out;
    if (inflateReset(&stream) != Z_OK) return BadGzip("the data is damaged");  // another member
  }
}

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) == 1);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace strata::replay
