#include "net/http_wire.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/support/property.h"

namespace strata::net {
namespace {

using State = RequestReader::State;

TEST(RequestReader, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string sent =
      "PATCH /api/v1/pods/a?force=true HTTP/1.1\r\nHost: x\r\nAccept: a\r\nAccept: b\r\n"
      "Content-Length: 11\r\n\r\nhello world";
  strata::testing::CheckProperty(200, [&] {
    RequestReader reader(100);
    std::string waiting;
    std::size_t at = 0;
    while (at < sent.size()) {
      const auto step = static_cast<std::size_t>(*strata::testing::Below(40) + 1);
      waiting += sent.substr(at, step);
      at += step;
      waiting.erase(0, reader.Feed(waiting));
      if (reader.state() == State::kBody) waiting.erase(0, reader.Feed(waiting));
      RC_ASSERT((reader.state() == State::kDone) == (at >= sent.size()));
    }
    RC_ASSERT(waiting.empty());
    RC_ASSERT(reader.keep_alive());
    const HttpRequest request = reader.Take();
    RC_ASSERT(request.method == "PATCH");
    RC_ASSERT(request.path == "/api/v1/pods/a");
    RC_ASSERT(request.query == "force=true");
    RC_ASSERT(request.HeaderValue("ACCEPT") == "a");
    RC_ASSERT(request.headers.size() == std::size_t{4});
    RC_ASSERT(request.body == "hello world");
  });
}

TEST(RequestReader, NeverReadsBeyondItsInputAndAlwaysEnds) {
  strata::testing::CheckProperty(2000, [] {
    // Broken in ways that look like HTTP.
    const std::vector<std::string> words = {"GET ",
                                            "POST ",
                                            "/",
                                            "?",
                                            " HTTP/1.1",
                                            "\r\n",
                                            "\n",
                                            "\r",
                                            "Host: x",
                                            "Content-Length: ",
                                            "5",
                                            "99999999999999999999",
                                            "Transfer-Encoding: chunked",
                                            "0",
                                            ";x=",
                                            ":",
                                            " ",
                                            "\t",
                                            std::string(1, '\0'),
                                            "\xff"};
    std::string text;
    const int count = *strata::testing::Below(30);
    for (int i = 0; i < count; ++i) {
      text +=
          words[static_cast<std::size_t>(*strata::testing::Below(static_cast<int>(words.size())))];
    }
    RequestReader reader(100);
    std::size_t taken = reader.Feed(text);
    RC_ASSERT(taken <= text.size());
    if (reader.state() == State::kBody) taken += reader.Feed(text.substr(taken));
    RC_ASSERT(taken <= text.size());
    if (reader.state() == State::kRefused) {
      RC_ASSERT(reader.refusal() == 400 || reader.refusal() == 413);
    }
  });
}

TEST(RequestReader, StopsAtTheEndOfTheHead) {
  const std::string head = "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";
  RequestReader reader(100);
  EXPECT_EQ(reader.Feed(head + "xyz"), head.size());
  EXPECT_EQ(reader.state(), State::kBody);
  EXPECT_EQ(reader.head().method, "POST");
  EXPECT_EQ(reader.head().path, "/a");
  EXPECT_EQ(reader.head().HeaderValue("host"), "x");
  EXPECT_EQ(reader.body_bytes(), 0U);
  EXPECT_EQ(reader.Feed("xyz"), 3U);
  EXPECT_EQ(reader.Take().body, "xyz");
}

TEST(RequestReader, APathMayComeWithItsHost) {
  RequestReader reader(0);
  reader.Feed("GET http://127.0.0.1:8080/version?a HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kDone);
  const HttpRequest request = reader.Take();
  EXPECT_EQ(request.path, "/version");
  EXPECT_EQ(request.query, "a");
}

TEST(ResponseHead, HasTheLengthAndTheConnectionOfTheAnswer) {
  const HttpResponse response{.status = 404, .headers = {{"A", "b"}}, .body = "xyz"};
  EXPECT_EQ(ResponseHead(response, Framing::kLength, true),
            "HTTP/1.1 404 Not Found\r\nA: b\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(ResponseHead(response, Framing::kChunked, false),
            "HTTP/1.1 404 Not Found\r\nA: b\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\n");
}

TEST(AppendChunk, WritesTheSizeInHex) {
  std::string out;
  AppendChunk(out, std::string(26, 'x'));
  AppendLastChunk(out);
  EXPECT_EQ(out, "1a\r\n" + std::string(26, 'x') + "\r\n0\r\n\r\n");
}

}  // namespace
}  // namespace strata::net
