#include "discovery/system_reader.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr ReadLimits kSmall = {.time = std::chrono::milliseconds(300), .bytes = 1000};

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("strata-reader-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string At(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(SystemReader, RunsAProgramAndKeepsItsStreamsApart) {
  const auto run = MakeSystemReader()->Run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->out, "out\n");
  EXPECT_EQ(run->err, "err\n");
}

TEST(SystemReader, AProgramThatIsNotThereIsNamed) {
  const auto run = MakeSystemReader()->Run({"no-such-program"});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().message, "no-such-program: cannot be run: No such file or directory");
}

TEST(SystemReader, AProgramThatDoesNotEndIsEndedWithItsChildren) {
  for (const char* script : {"sleep 60 & sleep 60", "exec >&- 2>&-; sleep 60", "yes >&2"}) {
    const auto start = std::chrono::steady_clock::now();
    const auto run = MakeSystemReader(kSmall)->Run({"sh", "-c", script});
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().message, "sh: no complete answer within 0.3 s");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
}

TEST(SystemReader, AProgramThatPrintsTooMuchIsGivenUp) {
  const auto run = MakeSystemReader(kSmall)->Run({"yes"});
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("given up"));
}

TEST(SystemReader, ReadsTheFilesOfAFolderByName) {
  const Folder folder;
  folder.Write("a.json0", "1");
  folder.Write("b.json0", "2");
  folder.Write("c.json", "3");
  const auto texts = MakeSystemReader()->ReadFolder(folder.At(""), ".json0");
  ASSERT_TRUE(texts.has_value()) << texts.error().message;
  EXPECT_THAT(*texts, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_FALSE(MakeSystemReader()->ReadFolder(folder.At("none"), ".json0").has_value());
  EXPECT_THAT(MakeSystemReader()->ReadFolder(folder.At(""), ".x").error().message,
              HasSubstr("no files (want <machine>.x in it)"));
}

TEST(SystemReader, TheLimitIsForAllFilesTogether) {
  const Folder folder;
  folder.Write("a", std::string(600, 'x'));
  const auto reader = MakeSystemReader(kSmall);
  EXPECT_TRUE(reader->ReadFile(folder.At("a")).has_value());
  EXPECT_THAT(reader->ReadFile(folder.At("a")).error().message, HasSubstr("given up"));
  EXPECT_FALSE(reader->ReadFile(folder.At("")).has_value());
}

TEST(SystemReader, ARefusedConnectionIsOneLine) {
  const ServerConfig server{.endpoint = "http://127.0.0.1:1"};
  const auto answer = MakeSystemReader(kSmall)->Send(
      {.url = "http://127.0.0.1:1/x", .server = &server, .body = ""});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1/x: "));
  EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace strata::discovery
