#include "kube/reflector_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/test_fake_api.h"

namespace strata::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Asking = ReflectorState::Asking;
using End = ReflectorState::End;

const Random kHalf = [] { return 0.5; };

ReflectorState Pods(ReflectorState::Streaming streaming) {
  ReflectorState::Settings settings;
  settings.streaming = streaming;
  settings.page_size = 2;
  return ReflectorState({kPods, "", "a=b", ""}, settings);
}

std::vector<std::string> Told(const std::vector<Delta>& deltas) {
  std::vector<std::string> told;
  for (const Delta& delta : deltas) {
    static constexpr std::string_view kSigns = "+~-!=";
    told.push_back(kSigns[static_cast<std::size_t>(delta.type)] + delta.key.name);
  }
  return told;
}

// Answers every call of `state` from `api` once, and gives what was told.
std::vector<std::string> Exchange(ReflectorState& state, FakeApi& api) {
  std::vector<Delta> deltas;
  const auto answer = api.Get(state.NextCall(kHalf).query);
  EXPECT_TRUE(answer);
  if (!answer->stream) {
    EXPECT_TRUE(state.TakePage(answer->body, deltas));
  }
  for (const std::string& line : answer->lines) {
    if (!state.TakeLine(line, deltas)) break;
  }
  std::uint64_t from = answer->from;
  for (const std::string& line : api.LinesSince(from)) {
    EXPECT_TRUE(!answer->stream || state.TakeLine(line, deltas));
  }
  (void)state.TakeEnd({}, kHalf);
  return Told(deltas);
}

TEST(ReflectorState, ListsInPagesThenWatchesFromThere) {
  FakeApi api;
  for (const char* name : {"a", "b", "c"}) api.Put(name, "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  EXPECT_THAT(Exchange(state, api), ElementsAre("+a", "+b"));
  api.Put("d", "1");  // not in the snapshot of the first page
  EXPECT_THAT(Exchange(state, api), ElementsAre("+c", "!"));
  EXPECT_EQ(state.asking(), Asking::kChanges);
  EXPECT_THAT(Exchange(state, api), ElementsAre("+d"));
}

TEST(ReflectorState, StreamsInitialEventsThenChangesInOneAnswer) {
  FakeApi api;
  api.Put("a", "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  EXPECT_THAT(state.NextCall(kHalf).query,
              HasSubstr("labelSelector=a%3Db&watch=true&allowWatchBookmarks=true"));
  EXPECT_THAT(Exchange(state, api), ElementsAre("+a", "!"));
  api.Put("a", "2");
  api.Remove("a");
  EXPECT_THAT(Exchange(state, api), ElementsAre("~a", "-a"));
}

TEST(ReflectorState, AnItemOfAListHasKindAndApiVersionAsAnEventHas) {
  FakeApi api;
  api.Put("a", "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  std::vector<Delta> deltas;
  ASSERT_TRUE(state.TakePage(api.Get("limit=2")->body, deltas));
  EXPECT_EQ(deltas[0].text, api.Objects()["a"]);
  EXPECT_EQ(deltas[0].key, (ObjectKey{"ns", "a"}));
}

TEST(ReflectorState, AServerThatCannotStreamIsListed) {
  ReflectorState refused = Pods(ReflectorState::Streaming::kTry);
  (void)refused.NextCall(kHalf);
  (void)refused.TakeEnd({End::Kind::kRefused, ReadFailure(422, {}, "")}, kHalf);
  EXPECT_EQ(refused.asking(), Asking::kPage);

  ReflectorState by_event = Pods(ReflectorState::Streaming::kTry);
  (void)by_event.NextCall(kHalf);
  std::vector<Delta> none;
  EXPECT_FALSE(by_event.TakeLine(FakeApi::ErrorLine(500), none));
  EXPECT_EQ(by_event.asking(), Asking::kPage);

  ReflectorState silent = Pods(ReflectorState::Streaming::kTry);
  (void)silent.NextCall(kHalf);
  (void)silent.TakeEnd({End::Kind::kSilent, {}}, kHalf);
  EXPECT_EQ(silent.asking(), Asking::kPage);
}

TEST(ReflectorState, ARelistTellsTheDifferenceOnly) {
  FakeApi api;
  for (const char* name : {"a", "b", "c"}) api.Put(name, "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  EXPECT_THAT(Exchange(state, api), ElementsAre("+a", "+b", "+c", "!"));
  api.Put("a", "2");
  api.Remove("b");
  api.Remove("c");
  api.Put("c", "again");
  api.Forget();
  EXPECT_THAT(Exchange(state, api), IsEmpty());  // 410
  EXPECT_THAT(Exchange(state, api), ElementsAre("~a", "-c", "+c", "-b"));
}

// A server that was restored from a backup.
TEST(ReflectorState, AVersionThatTheServerDoesNotKnowLeadsToANewList) {
  FakeApi api;
  api.Put("a", "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  (void)Exchange(state, api);
  ASSERT_EQ(state.asking(), Asking::kChanges);
  (void)state.NextCall(kHalf);
  const Failure failure = ReadFailure(
      504,
      {},
      R"({"kind":"Status","reason":"Timeout","code":504,"message":"Too large resource version",)"
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})");
  EXPECT_TRUE(failure.IsVersionTooLarge());
  (void)state.TakeEnd({End::Kind::kRefused, failure}, kHalf);
  EXPECT_EQ(state.asking(), Asking::kPage);
}

TEST(ReflectorState, WatchesThatEndWithoutALineLeadToANewList) {
  FakeApi api;
  api.Put("a", "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  (void)Exchange(state, api);
  ASSERT_EQ(state.asking(), Asking::kChanges);
  for (int watches = 0; watches < 3; ++watches) {
    EXPECT_EQ(state.asking(), Asking::kChanges);
    (void)state.NextCall(kHalf);
    (void)state.TakeEnd({End::Kind::kComplete, {}}, kHalf);
  }
  EXPECT_EQ(state.asking(), Asking::kPage);
}

TEST(ReflectorState, ContinuesAnInterruptedStreamFromTheLastVersion) {
  FakeApi api;
  api.Put("a", "1");
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  EXPECT_THAT(Exchange(state, api), ElementsAre("+a", "!"));
  (void)state.NextCall(kHalf);
  (void)state.TakeEnd({End::Kind::kCut, {}}, kHalf);
  EXPECT_THAT(state.NextCall(kHalf).query, HasSubstr("&resourceVersion=12"));
  EXPECT_THAT(state.NextCall(kHalf).query, Not(HasSubstr("sendInitialEvents")));
}

TEST(ReflectorState, ABookmarkMovesTheVersionAndAnOlderOneMeansALostHistory) {
  FakeApi api;
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  EXPECT_THAT(Exchange(state, api), ElementsAre("!"));
  const auto bookmark = [](int version) {
    return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
           std::to_string(version) + R"("}}})";
  };
  std::vector<Delta> deltas;
  ASSERT_TRUE(state.TakeLine(bookmark(70), deltas));
  EXPECT_THAT(state.NextCall(kHalf).query, HasSubstr("resourceVersion=70"));
  EXPECT_FALSE(state.TakeLine(bookmark(69), deltas));
  EXPECT_EQ(state.asking(), Asking::kInitialEvents);
}

TEST(ReflectorState, ListsAgainAfterThreeInvalidAnswersInARow) {
  FakeApi api;
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  EXPECT_THAT(Exchange(state, api), ElementsAre("!"));
  std::vector<Delta> deltas;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(state.asking(), Asking::kChanges);
    (void)state.NextCall(kHalf);
    EXPECT_FALSE(state.TakeLine("{\"type\":\"ADDED\",\"object\":{\"metadata\":7}}", deltas));
    (void)state.TakeEnd({End::Kind::kUnusable, {}}, kHalf);
  }
  EXPECT_EQ(state.asking(), Asking::kPage);
}

TEST(ReflectorState, APageIsTakenWholeOrNotAtAll) {
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  std::vector<Delta> deltas;
  EXPECT_FALSE(
      state.TakePage(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)"
                     R"({"metadata":{"name":"a","resourceVersion":"1"}},{"metadata":{}}]})",
                     deltas));
  EXPECT_THAT(deltas, IsEmpty());
}

TEST(ReflectorState, ASnapshotThatIsGoneIsTakenInOnePieceTheNextTime) {
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  EXPECT_THAT(state.NextCall(kHalf).query, HasSubstr("limit=2"));
  (void)state.TakeEnd({End::Kind::kRefused, ReadFailure(410, {}, "")}, kHalf);
  EXPECT_THAT(state.NextCall(kHalf).query, Not(HasSubstr("limit")));
}

TEST(ReflectorState, WaitsAsLongAsTheServerAsks) {
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  const std::vector<net::Header> headers = {{"Retry-After", "7"}};
  EXPECT_EQ(state.TakeEnd({End::Kind::kRefused, ReadFailure(429, headers, "")}, kHalf),
            std::chrono::seconds(7));
  EXPECT_EQ(state.asking(), Asking::kInitialEvents);
}

TEST(ReflectorState, OddLinesAreErrorsAndNeverCrash) {
  for (const char* line :
       {"{",
        "[]",
        "null",
        "{\"type\":1}",
        "{\"type\":\"ADDED\"}",
        "{\"type\":\"ADDED\",\"object\":[]}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}",
        "{\"type\":\"HELLO\",\"object\":{\"metadata\":{\"name\":\"a\","
        "\"resourceVersion\":\"1\"}}}",
        "{\"type\":\"ERROR\",\"object\":{\"code\":-1}}",
        "\xff\xfe",
        "{\"type\":\"ADDED\",\"object\":{}} x"}) {
    ReflectorState state = Pods(ReflectorState::Streaming::kTry);
    std::vector<Delta> deltas;
    EXPECT_FALSE(state.TakeLine(line, deltas)) << line;
    EXPECT_THAT(deltas, IsEmpty());
  }
}

std::string PodText(const std::string& name, int version, const std::string& spec) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"u","resourceVersion":")" +
         std::to_string(version) + R"("},"spec":)" + spec + '}';
}

std::string Nested(int levels) {
  const auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(ReflectorState, SkipsAnObjectThatCannotBeParsed) {
  for (const std::string& odd :
       {Nested(600), Nested(5'000), std::string("123456789012345678901")}) {
    ReflectorState state = Pods(ReflectorState::Streaming::kNever);
    (void)state.NextCall(kHalf);
    std::vector<Delta> deltas;
    const std::string page =
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" +
        PodText("a", 1, "{}") + ',' + PodText("odd", 2, odd) + ',' + PodText("b", 3, "{}") + "]}";
    ASSERT_TRUE(state.TakePage(page, deltas));
    EXPECT_THAT(Told(deltas), ElementsAre("+a", "+b", "!"));
    const std::vector<std::string> skipped = state.TakeSkipped();
    ASSERT_EQ(skipped.size(), 1U);
    EXPECT_THAT(skipped[0], HasSubstr("ns/odd: skipped: "));
    // One that was known goes; and comes back when it can be read again.
    (void)state.NextCall(kHalf);
    deltas.clear();
    const auto line = [](const std::string& text) {
      return R"({"type":"MODIFIED","object":)" + text + '}';
    };
    ASSERT_TRUE(state.TakeLine(line(PodText("a", 10, odd)), deltas));
    ASSERT_TRUE(state.TakeLine(line(PodText("a", 11, "{}")), deltas));
    EXPECT_THAT(Told(deltas), ElementsAre("-a", "+a"));
    EXPECT_THAT(state.TakeSkipped(), ::testing::SizeIs(1));
  }
}

TEST(ReflectorState, RejectsAPageWithAGarbledObject) {
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  (void)state.NextCall(kHalf);
  std::vector<Delta> deltas;
  EXPECT_FALSE(state.TakePage(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" +
          PodText("a", 1, "tru") + "]}",
      deltas));
  EXPECT_THAT(deltas, IsEmpty());
}

// A reflector that has listed everything, and the version at which it stands.
struct Listed {
  Listed() {
    api.Put("a", "1");
    Exchange(state, api);
    version = Version();
  }
  [[nodiscard]] std::string Version() {
    std::string list = api.Get("limit=1")->body;
    return CutList(list)->version;
  }
  std::vector<std::string> CatchUpTo(std::string to) {
    std::vector<Delta> deltas;
    state.CatchUpTo(std::move(to), deltas);
    return Told(deltas);
  }
  std::vector<std::string> Take(const std::string& line) {
    std::vector<Delta> deltas;
    EXPECT_TRUE(state.TakeLine(line, deltas));
    return Told(deltas);
  }

  FakeApi api;
  ReflectorState state = Pods(ReflectorState::Streaming::kTry);
  std::string version;
};

TEST(ReflectorState, HasCaughtUpWithTheVersionAtWhichItStands) {
  Listed pods;
  EXPECT_THAT(pods.CatchUpTo(pods.version), ElementsAre("="));
  EXPECT_FALSE(pods.state.IsBehind());
}

TEST(ReflectorState, CatchesUpByAnEventOfTheVersionAndNotByAnOlderOne) {
  Listed pods;
  std::uint64_t seen = std::stoull(pods.version);
  pods.api.Put("b", "1");
  pods.api.Put("b", "2");
  EXPECT_THAT(pods.CatchUpTo(pods.Version()), IsEmpty());
  const std::vector<std::string> lines = pods.api.LinesSince(seen);
  EXPECT_THAT(pods.Take(lines.at(0)), ElementsAre("+b"));
  EXPECT_TRUE(pods.state.IsBehind());
  EXPECT_THAT(pods.Take(lines.at(1)), ElementsAre("~b", "="));
  EXPECT_FALSE(pods.state.IsBehind());
}

TEST(ReflectorState, CatchesUpByABookmark) {
  Listed pods;
  pods.api.Put("b", "1");
  EXPECT_THAT(pods.CatchUpTo(pods.Version()), IsEmpty());
  EXPECT_THAT(pods.Take(pods.api.Bookmark()), ElementsAre("="));
}

TEST(ReflectorState, CatchesUpByAListThatIsAskedForLaterWhateverItsVersion) {
  for (const char* version : {"", "not a number", "999999"}) {
    Listed pods;
    EXPECT_THAT(pods.CatchUpTo(version), IsEmpty());
    pods.state.LookAtEverything();
    pods.api.Put("b", "1");
    EXPECT_THAT(Exchange(pods.state, pods.api), ElementsAre("+b", "="));
  }
}

TEST(ReflectorState, AListThatWasAskedForBeforeMayBeTooOldToCatchUpBy) {
  FakeApi api;
  ReflectorState state = Pods(ReflectorState::Streaming::kNever);
  std::vector<Delta> deltas;
  const auto page = api.Get(state.NextCall(kHalf).query);
  state.CatchUpTo("12", deltas);
  ASSERT_TRUE(state.TakePage(page->body, deltas));
  EXPECT_THAT(Told(deltas), ElementsAre("!")) << "it is of version 10";
  EXPECT_TRUE(state.IsBehind());
}

}  // namespace
}  // namespace strata::kube
