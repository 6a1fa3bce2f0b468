#include "net/gzip.h"

#include <zlib.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace strata::net {
namespace {

std::string Unzipped(std::string text) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string Readable(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "line " + std::to_string(text.size() * 7919) + "\n";
  return text;
}

class GivenPieces final : public BodySource {
 public:
  explicit GivenPieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  More Pull(std::string& out) override {
    out += pieces_[next_++];
    return next_ == pieces_.size() ? More::kEnd : More::kReady;
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t next_ = 0;
};

TEST(Gzip, DecompressesToTheOriginal) {
  for (const std::size_t bytes : {0UL, 1UL, 1000UL, 500'000UL}) {
    const std::string text = Readable(bytes);
    const std::string zipped = Gzip(text);
    EXPECT_EQ(Unzipped(zipped), text);
    if (bytes > 1000) {
      EXPECT_LT(zipped.size(), text.size() / 2);
    }
  }
}

TEST(Gzip, CompressesASourceAsOneStream) {
  const std::vector<std::string> pieces = {Readable(70'000), "", Readable(10), Readable(200'000)};
  const auto source = GzipSource(std::make_unique<GivenPieces>(pieces));
  std::string all;
  std::string piece;
  while (source->Pull(piece) == BodySource::More::kReady) {
    all += piece;
    piece.clear();
  }
  EXPECT_EQ(Unzipped(all + piece), pieces[0] + pieces[1] + pieces[2] + pieces[3]);
}

TEST(Gzip, IsUsedOnlyWhereTheClientAcceptsIt) {
  const auto accepts = [](const std::string& value) {
    return AcceptsGzip({.method = "GET",
                        .path = "/",
                        .query = "",
                        .headers = {{"accept-encoding", value}},
                        .body = ""});
  };
  for (const char* const yes : {"gzip", "deflate, gzip", "GZIP;q=0.5", "gzip;q=1.0, br"}) {
    EXPECT_TRUE(accepts(yes)) << yes;
  }
  for (const char* const no : {"", "identity", "gzip;q=0", "gzip; q=0.0", "xgzip"}) {
    EXPECT_FALSE(accepts(no)) << no;
  }
}

}  // namespace
}  // namespace strata::net
