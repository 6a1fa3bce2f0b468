#include "net/chunk_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "net/http_wire.h"
#include "tests/support/property.h"

namespace strata::net {
namespace {

using ChunkState = ChunkReader::State;

// Feeds `text` in pieces of that size; what is left over goes to `rest`.
ChunkState FeedChunked(ChunkReader& reader,
                       std::string_view text,
                       std::size_t piece,
                       std::string* rest) {
  std::string waiting;
  while (!text.empty() && reader.state() == ChunkState::kMore) {
    waiting += text.substr(0, piece);
    text.remove_prefix(std::min(piece, text.size()));
    waiting.erase(0, reader.Feed(waiting));
  }
  if (rest != nullptr) *rest = waiting + std::string(text);
  return reader.state();
}

ChunkState StateAfterChunks(std::string_view text) {
  ChunkReader reader(100);
  return FeedChunked(reader, text, text.size(), nullptr);
}

TEST(ChunkReader, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string sent =
      "5\r\nhello\r\n1 ; a=\"b\"\r\n \r\n00A\r\nwide world\r\n0\r\nChecksum: 1\r\n\r\nGET /";
  for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
    ChunkReader reader(100);
    std::string rest;
    ASSERT_EQ(FeedChunked(reader, sent, piece, &rest), ChunkState::kDone) << piece;
    EXPECT_EQ(reader.body(), "hello wide world");
    EXPECT_EQ(rest, "GET /");
  }
}

TEST(ChunkReader, RejectsAmbiguousFraming) {
  for (const std::string_view text : {"\r\n",
                                      "x\r\n",
                                      "-1\r\n",
                                      "+1\r\n",
                                      "0x1\r\n",
                                      "1 2\r\n",
                                      "1\nb\r\n",
                                      "1\r\nab\r\n",
                                      "2\r\na\r\n0\r\n\r\n",
                                      "0\r\nno field\r\n\r\n",
                                      "1000000000000000\r\n",
                                      "ffffffffffffffffffff\r\n"}) {
    EXPECT_EQ(StateAfterChunks(text), ChunkState::kBad) << text;
  }
  EXPECT_EQ(StateAfterChunks("64\r\n"), ChunkState::kMore);
  EXPECT_EQ(StateAfterChunks("65\r\n"), ChunkState::kTooLarge);
  EXPECT_EQ(StateAfterChunks("64\r\n" + std::string(100, 'x') + "\r\n1\r\n"),
            ChunkState::kTooLarge);
}

TEST(ChunkReader, RejectsTooMuchFramingAroundLittleData) {
  EXPECT_EQ(StateAfterChunks(std::string(5000, '0')), ChunkState::kBad);
  std::string text;
  for (int i = 0; i < 50; ++i) text += "1;" + std::string(4000, 'x') + "\r\na\r\n";
  EXPECT_EQ(StateAfterChunks(text), ChunkState::kBad);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 50; ++i) trailers += "a:" + std::string(4000, 'x') + "\r\n";
  EXPECT_EQ(StateAfterChunks(trailers), ChunkState::kBad);
}

TEST(ChunkReader, BadTextIsReadTheSameHoweverItIsCut) {
  strata::testing::CheckProperty(2000, [] {
    const std::vector<std::string> words = {
        "0", "1", "5", "f", "\r\n", "\r\n\r\n", "\r", "\n", ";x", " ", "abcde", "-"};
    std::string text;
    const int count = *strata::testing::Below(20);
    for (int i = 0; i < count; ++i) {
      text +=
          words[static_cast<std::size_t>(*strata::testing::Below(static_cast<int>(words.size())))];
    }
    ChunkReader whole(20);
    ChunkReader pieces(20);
    const ChunkState state = FeedChunked(whole, text, text.size() + 1, nullptr);
    RC_ASSERT(FeedChunked(pieces, text, 1, nullptr) == state);
    if (state == ChunkState::kDone) RC_ASSERT(whole.body() == pieces.body());
  });
}

// Beast's own parser of chunks stops at an assertion here.
TEST(RequestReader, ABadEndOfTheChunksMayComeInPieces) {
  const std::string sent =
      "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nabc\r\n0\r\n\r\n";
  for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
    RequestReader reader(100);
    std::string waiting;
    for (std::size_t at = 0; at < sent.size(); at += piece) {
      if (reader.state() == RequestReader::State::kRefused) break;
      waiting += sent.substr(at, piece);
      waiting.erase(0, reader.Feed(waiting));
      if (reader.state() == RequestReader::State::kBody) {
        waiting.erase(0, reader.Feed(waiting));
      }
    }
    ASSERT_EQ(reader.state(), RequestReader::State::kRefused) << piece;
    EXPECT_EQ(reader.refusal(), 400);
  }
}

TEST(RequestReader, RejectsEncodingsOtherThanChunked) {
  for (const std::string_view head : {"Transfer-Encoding: gzip, chunked\r\n",
                                      "Transfer-Encoding: identity\r\n",
                                      "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"}) {
    RequestReader reader(100);
    reader.Feed("PUT / HTTP/1.1\r\nHost: x\r\n" + std::string(head) + "\r\n");
    ASSERT_EQ(reader.state(), RequestReader::State::kRefused) << head;
    EXPECT_EQ(reader.refusal(), 400);
  }
}

}  // namespace
}  // namespace strata::net
