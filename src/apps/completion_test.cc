#include "apps/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/test_commands.h"

namespace strata {
namespace {

using testing::HasSubstr;

TEST(BashCompletion, OffersCommandsFlagsChoicesAndFiles) {
  const std::string script = BashCompletion(SmallTree());
  EXPECT_THAT(script, HasSubstr("    'strata') words='get queue' ;;\n"));
  EXPECT_THAT(script, HasSubstr("    'strata get') words='--output --filename --all' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'strata get'|'strata queue'|'strata queue list') at="));
  EXPECT_THAT(script,
              HasSubstr("'strata get -o'|'strata get --output') mapfile -t COMPREPLY < "
                        "<(compgen -W 'table json' -- \"$word\"); return ;;\n"));
  EXPECT_THAT(script, HasSubstr("'strata get -f'|'strata get --filename') compopt -o filenames;"));
}

TEST(ZshCompletion, DescribesCommandsAndFlags) {
  const std::string script = ZshCompletion(SmallTree());
  EXPECT_THAT(script,
              HasSubstr("'strata') commands=('get:Get things' 'queue:Queues') flags=() ;;\n"));
  EXPECT_THAT(script, HasSubstr("compadd -- table json; return ;;\n"));
  EXPECT_THAT(script, HasSubstr("_files; return ;;\n"));
}

TEST(ZshCompletion, QuotesApostrophes) {
  EXPECT_THAT(ZshCompletion(SmallTree()), HasSubstr(R"('-f:Manifests, the user'\''s')"));
}

TEST(FishCompletion, OffersEachFlagWhereItBelongs) {
  const std::string script = FishCompletion(SmallTree());
  EXPECT_THAT(
      script,
      HasSubstr(R"(complete -c strata -n '__strata_at \'strata\'' -f -a get -d 'Get things')"));
  EXPECT_THAT(script,
              HasSubstr(R"(-n '__strata_at \'strata get\'' -s o -l output -x -a 'table json' -d)"));
  EXPECT_THAT(script, HasSubstr(R"(-s f -l filename -r -F -d 'Manifests, the user\'s')"));
  EXPECT_THAT(script, HasSubstr(" -l all -d 'All of them'\n"));
}

// A command that takes a job, and a flag that takes a queue.
CommandTree TreeOfNames() {
  CommandTree tree = SmallTree();
  tree.commands.front().arguments.front().value = "[NS/]JOB";
  tree.commands.front().flags.push_back({"", "--queue", "QUEUE", "The queue"});
  return tree;
}

TEST(Completion, AsksTheClusterForNames) {
  const std::string bash = BashCompletion(TreeOfNames());
  EXPECT_THAT(bash, HasSubstr("--queue' names=jobs ;;\n"));
  EXPECT_THAT(bash, HasSubstr("'strata get --queue') _strata_names queues \"$word\"; return ;;\n"));
  const std::string zsh = ZshCompletion(TreeOfNames());
  EXPECT_THAT(zsh, HasSubstr(" names=jobs ;;\n"));
  EXPECT_THAT(zsh, HasSubstr("'strata get --queue') _strata_names queues; return ;;\n"));
  const std::string fish = FishCompletion(TreeOfNames());
  EXPECT_THAT(fish, HasSubstr("-f -a '(__strata_names jobs)'\n"));
  EXPECT_THAT(fish, HasSubstr(" -l queue -x -a '(__strata_names queues)' -d"));
}

}  // namespace
}  // namespace strata
