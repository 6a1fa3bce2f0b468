#include "agent/cdi_names.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace strata::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CdiNames : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  [[nodiscard]] CdiCheck Check(const std::vector<std::string>& wanted) const {
    return CheckCdiNames(wanted, {folder_ + "/not-there", folder_});
  }

  const strata::testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(CdiNames, AreThoseOfAllFilesOfTheFolders) {
  Write("a.json", R"({"kind":"nvidia.com/gpu","devices":[{"name":"GPU-1"},{"name":"all"}]})");
  Write("b.yaml", "kind: nvidia.com/imex-channel\ndevices:\n- name: \"0\"\n");
  Write("c.txt", "kind: nvidia.com/gpu\ndevices: [{name: GPU-2}]\n");
  const CdiCheck check =
      Check({"nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-2", "nvidia.com/imex-channel=0"});
  EXPECT_THAT(check.missing, ElementsAre("nvidia.com/gpu=GPU-2"));
  EXPECT_THAT(check.problems, IsEmpty());
}

TEST_F(CdiNames, AreMissingWithoutFiles) {
  EXPECT_THAT(Check({"nvidia.com/gpu=GPU-1"}).missing, ElementsAre("nvidia.com/gpu=GPU-1"));
}

TEST_F(CdiNames, OfAFileThatCannotBeReadAreMissingAndTheFileIsNamed) {
  Write("broken.json", "{");
  Write("empty.json", "{}");
  Write("good.json", R"({"kind":"nvidia.com/gpu","devices":[{"name":"GPU-1"}]})");
  const CdiCheck check = Check({"nvidia.com/gpu=GPU-1"});
  EXPECT_THAT(check.missing, IsEmpty());
  EXPECT_THAT(check.problems,
              ElementsAre(HasSubstr("/broken.json: "), HasSubstr("/empty.json: has no kind")));
}

TEST(CdiWords, HaveTheLettersOfTheSpecification) {
  for (const char* vendor : {"nvidia.com", "k8s.device-plugin.nvidia.com", "a_1", "N"}) {
    EXPECT_EQ(ProblemOfCdiVendor(vendor), "") << vendor;
  }
  for (const char* vendor : {"", "1a", "a.", "a/b", "a=b", "a b"}) {
    EXPECT_THAT(ProblemOfCdiVendor(vendor), HasSubstr("is not a CDI vendor")) << vendor;
  }
  EXPECT_EQ(ProblemOfCdiClass("gpu"), "");
  EXPECT_EQ(ProblemOfCdiClass("imex-channel"), "");
  EXPECT_THAT(ProblemOfCdiClass("g.pu"), HasSubstr("is not a CDI class"));
}

}  // namespace
}  // namespace strata::agent
