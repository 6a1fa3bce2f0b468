#include "apps/flags.h"

#include <CLI/CLI.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Parses `line`, and says what is wrong with it; "" when it is accepted.
std::string Parse(CLI::App& app, const std::string& line) {
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(ResolveName, TakesTheNamespaceFromTheNameOrTheFlag) {
  EXPECT_EQ(ResolveName("ml/train", "", "default").value(), (NamespacedKey{"ml", "train"}));
  EXPECT_EQ(ResolveName("ml/train", "ml", "default").value(), (NamespacedKey{"ml", "train"}));
  EXPECT_EQ(ResolveName("train", "ml", "default").value(), (NamespacedKey{"ml", "train"}));
  EXPECT_EQ(ResolveName("train", "", "default").value(), (NamespacedKey{"default", "train"}));
  EXPECT_EQ(ResolveName("ml/train", "web", "default").error().message,
            "ml/train: -n names another namespace, web");
}

TEST(ResolveName, TakesAKindInAnyCaseBeforeTheName) {
  EXPECT_EQ(ResolveName("Pod/train", "", "default").value(),
            (NamespacedKey{"default", "train", "Pod"}));
  EXPECT_EQ(ResolveName("vcjob/train", "ml", "default").value(),
            (NamespacedKey{"ml", "train", "Job"}));
  EXPECT_EQ(ResolveName("ml/ReplicaSet/web-5d8f", "", "default").value(),
            (NamespacedKey{"ml", "web-5d8f", "ReplicaSet"}));
}

TEST(CheckName, WantsAtMostOneNamespace) {
  EXPECT_EQ(CheckName("ml/train"), "");
  EXPECT_EQ(CheckName("train"), "");
  EXPECT_EQ(CheckName("ml/pod/train"), "");
  for (const char* text : {"", "/", "a/", "/b", "a/b/c", "a/pod/b/c"}) {
    EXPECT_THAT(CheckName(text), HasSubstr("want NAMESPACE/NAME, NAME or KIND/NAME")) << text;
  }
}

TEST(CheckJobName, WantsNamespaceAndJob) {
  EXPECT_EQ(CheckJobName("ml/train"), "");
  for (const char* text : {"", "train", "/train", "ml/"}) {
    EXPECT_THAT(CheckJobName(text), HasSubstr("want NAMESPACE/NAME")) << text;
  }
}

TEST(CheckPath, RejectsTheEmptyPath) {
  EXPECT_EQ(CheckPath("-"), "");
  EXPECT_EQ(CheckPath(""), "want a path, found \"\"");
}

TEST(ClusterFlags, ReadFilesOrTheRunningCluster) {
  InputFlags live;
  CLI::App first;
  AddClusterFlags(first, live);
  EXPECT_EQ(Parse(first, "--context prod"), "");
  EXPECT_TRUE(live.live());
  EXPECT_EQ(live.connection.context, "prod");

  InputFlags files;
  CLI::App second;
  AddClusterFlags(second, files);
  EXPECT_EQ(Parse(second, "-f a.yaml -f b --now 2026-01-01T00:00:00Z"), "");
  EXPECT_THAT(files.files, ElementsAre("a.yaml", "b"));
  EXPECT_FALSE(files.live());
  EXPECT_TRUE(files.now);
}

TEST(ClusterFlags, ManifestsExcludeAContextAndWatching) {
  for (const char* line : {"-f a.yaml --context prod", "-f a.yaml --watch"}) {
    InputFlags flags;
    CLI::App app;
    AddClusterFlags(app, flags);
    AddWatchFlag(app, flags);
    EXPECT_THAT(Parse(app, line), HasSubstr("excludes")) << line;
  }
}

TEST(OutputFlag, ListsTheFormatsOfTheCommand) {
  OutputFormat output = OutputFormat::kTable;
  CLI::App app;
  AddOutputFlag(app, output, {"table", "json"});
  EXPECT_EQ(Parse(app, "-o json"), "");
  EXPECT_EQ(output, OutputFormat::kJson);
  CLI::App other;
  AddOutputFlag(other, output, {"table", "json"});
  EXPECT_THAT(Parse(other, "-o yaml"), HasSubstr("unknown format \"yaml\" (want table|json)"));
}

TEST(ServerFlags, PlainHttpIsForLoopbackOnly) {
  ServerSettings settings;
  settings.plain_http = true;
  EXPECT_NO_THROW(CheckServerFlags(settings));
  settings.listen = "0.0.0.0:80";
  EXPECT_THROW(CheckServerFlags(settings), CLI::ValidationError);
  settings.plain_http = false;
  EXPECT_NO_THROW(CheckServerFlags(settings));
}

}  // namespace
}  // namespace strata
