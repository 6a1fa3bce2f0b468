#include "discovery/system_reader.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr ReadLimits kSmall = {.time = std::chrono::milliseconds(300), .bytes = 1000};
constexpr ReadLimits kFewBytes = {.time = std::chrono::minutes(1), .bytes = 1000};

std::unique_ptr<Reader> AnyReader(ReadLimits limits = {}) {
  return MakeSystemReader(Permissions::Everything(), limits);
}

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

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether the process is gone, or only waits for somebody to notice.
bool HasEnded(int pid) {
  const std::string stat = ReadText("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t state = stat.rfind(") ");
  return state == std::string::npos || stat.substr(state + 2, 1) == "Z";
}

// The kernel may need a moment to end what was killed.
bool EndsSoon(int pid) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!HasEnded(pid) && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  return HasEnded(pid);
}

TEST(SystemReader, RunsAProgramAndKeepsItsStreamsApart) {
  const auto run = AnyReader()->Run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->out, "out\n");
  EXPECT_EQ(run->err, "err\n");
}

TEST(SystemReader, AProgramThatIsNotThereIsNamed) {
  const auto run = AnyReader()->Run({"no-such-program"});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().message, "no-such-program: cannot be run: No such file or directory");
}

TEST(SystemReader, AProgramThatDoesNotEndIsEndedWithItsChildren) {
  for (const char* script : {"sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600", "yes >&2"}) {
    const auto start = std::chrono::steady_clock::now();
    const auto run = AnyReader(kSmall)->Run({"sh", "-c", script});
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().message, "sh: no complete answer within 0.3 s");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
  }
}

TEST(SystemReader, AProgramThatASignalEndedSaysWhich) {
  const auto run = AnyReader()->Run({"sh", "-c", "echo half; kill -SEGV $$"});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->signal, SIGSEGV);
  EXPECT_EQ(run->out, "half\n");
}

TEST(SystemReader, KillsWhatAProgramLeftRunning) {
  // The first ends well, with a child in the background; the second says too much and is killed
  // with its child.
  for (const char* script :
       {"sleep 600 >/dev/null 2>&1 & echo $!", "sleep 600 & echo $! >&2; exec yes"}) {
    const Folder folder;
    const std::string with_file = std::string("exec 2>") + folder.At("err") + "; " + script;
    const auto run = AnyReader(kFewBytes)->Run({"sh", "-c", with_file});
    const std::string text = run ? run->out : ReadText(folder.At("err"));
    ASSERT_NE(text, "") << script;
    EXPECT_TRUE(EndsSoon(std::stoi(text))) << script;
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left by " << script;
    EXPECT_EQ(errno, ECHILD);
  }
}

TEST(SystemReader, KillsAProgramThatPrintsTooMuch) {
  const auto run = AnyReader(kFewBytes)->Run({"yes"});
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("given up"));
}

TEST(SystemReader, ReadsTheFilesOfAFolderByName) {
  const Folder folder;
  folder.Write("a.json0", "1");
  folder.Write("b.json0", "2");
  folder.Write("c.json", "3");
  const auto texts = AnyReader()->ReadFolder(folder.At(""), ".json0");
  ASSERT_TRUE(texts.has_value()) << texts.error().message;
  EXPECT_THAT(*texts, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_FALSE(AnyReader()->ReadFolder(folder.At("none"), ".json0").has_value());
  EXPECT_THAT(AnyReader()->ReadFolder(folder.At(""), ".x").error().message,
              HasSubstr("no files (want <machine>.x in it)"));
}

TEST(SystemReader, TheLimitIsForAllFilesTogether) {
  const Folder folder;
  folder.Write("a", std::string(600, 'x'));
  const auto reader = AnyReader(kFewBytes);
  EXPECT_TRUE(reader->ReadFile(folder.At("a")).has_value());
  EXPECT_THAT(reader->ReadFile(folder.At("a")).error().message, HasSubstr("given up"));
  EXPECT_FALSE(reader->ReadFile(folder.At("")).has_value());
}

TEST(SystemReader, RejectsAPipeWithoutWaiting) {
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.At("pipe").c_str(), 0600), 0);
  EXPECT_THAT(AnyReader()->ReadFile(folder.At("pipe")).error().message,
              HasSubstr("pipe: is a pipe or a socket (want a file)"));
}

TEST(SystemReader, ARefusedConnectionIsOneLine) {
  const ServerConfig server{.endpoint = "http://127.0.0.1:1"};
  const auto answer =
      AnyReader(kSmall)->Send({.url = "http://127.0.0.1:1/x", .server = &server, .body = ""});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1/x: "));
  EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
}

TEST(SystemReader, HidesTheQueryOfAnAddress) {
  const auto answer = AnyReader(kSmall)->Send(
      {.url = "http://127.0.0.1:1/x?token=hush", .server = nullptr, .body = ""});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1/x: "));
}

TEST(SystemReader, UsesNothingThatIsNotAllowed) {
  const Folder folder;
  std::filesystem::create_directories(folder.At("open"));
  folder.Write("secret.json0", "{}");
  folder.Write("open/a.json0", "{}");
  std::filesystem::create_symlink(folder.At("secret.json0"), folder.At("open/link.json0"));
  const auto permissions = Permissions::Only({folder.At("open/")}, "ns");
  ASSERT_TRUE(permissions);
  const auto reader = MakeSystemReader(*permissions);
  EXPECT_TRUE(reader->ReadFile(folder.At("open/a.json0")));
  EXPECT_THAT(reader->ReadFile(folder.At("secret.json0")).error().message,
              HasSubstr("is not in an allowed folder"));
  EXPECT_THAT(reader->ReadFile(folder.At("open/link.json0")).error().message,
              HasSubstr("is a link to a place outside the allowed folders"));
  EXPECT_FALSE(reader->ReadFolder(folder.At("open"), ".json0"));
  EXPECT_THAT(reader->Run({"sh", "-c", "echo out"}).error().message,
              HasSubstr("program \"sh\" is not allowed"));
  const ServerConfig server{"https://127.0.0.1:1", false, folder.At("secret.json0")};
  const HttpRequest request{
      .url = server.endpoint, .server = &server, .credentials = nullptr, .body = ""};
  EXPECT_THAT(reader->Send(request).error().message, HasSubstr("is not in an allowed folder"));
}

}  // namespace
}  // namespace strata::discovery
