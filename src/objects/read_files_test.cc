#include "objects/read_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class ReadFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "b"); }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
  }

  std::vector<std::string> Texts(const std::vector<std::string>& paths,
                                 const std::string& standard_input = "") const {
    std::istringstream in(standard_input);
    const Result<std::vector<Source>> sources = ReadSources(paths, in);
    if (!sources) return {sources.error().message};
    std::vector<std::string> texts;
    for (const Source& source : *sources) texts.push_back(source.text);
    return texts;
  }

  const fs::path root_ = fs::path(::testing::TempDir()) / "strata_read_files_test";
};

TEST_F(ReadFiles, ADirectoryIsEveryManifestBelowInNameOrder) {
  Write("c.json", "3");
  Write("a.yaml", "1");
  Write("b/x.yml", "2");
  Write("notes.txt", "no");
  EXPECT_THAT(Texts({root_.string()}), ElementsAre("1", "2", "3"));
}

TEST_F(ReadFiles, ADirectoryWithoutManifestsIsAnError) {
  EXPECT_THAT(
      Texts({root_.string()}),
      ElementsAre(root_.string() + ": no manifests (want *.yaml, *.yml or *.json below it)"));
}

TEST_F(ReadFiles, StandardInputIsReadOnce) {
  Write("a.yaml", "1");
  EXPECT_THAT(Texts({"-", (root_ / "a.yaml").string()}, "in"), ElementsAre("in", "1"));
  EXPECT_THAT(Texts({"-", "-"}), ElementsAre("-: standard input can be read only once"));
}

TEST_F(ReadFiles, AMissingFileIsNamed) {
  EXPECT_THAT(Texts({(root_ / "gone.yaml").string()}),
              ElementsAre(HasSubstr("gone.yaml: No such file")));
}

}  // namespace
}  // namespace strata::objects
