#pragma once

#include "apps/command_tree.h"

namespace strata {

// A small tree of commands for tests: strata, strata get, strata queue list.
inline CommandTree SmallTree() {
  const CommandTree::Flag output{"-o", "--output", "table|json", "Output format"};
  const CommandTree::Flag file{"-f", "--filename", "FILE|DIR|-", "Manifests, the user's"};
  const CommandTree::Flag all{"", "--all", "", "All of them"};
  const CommandTree get{.path = "strata get",
                        .name = "get",
                        .summary = "Get things",
                        .footer = "\nExamples:\n  .hidden -f x",
                        .flags = {output, file, all},
                        .arguments = {{"", "", "NAME", "The thing"}},
                        .commands = {}};
  const CommandTree list{.path = "strata queue list",
                         .name = "list",
                         .summary = "List queues",
                         .footer = "",
                         .flags = {output},
                         .arguments = {},
                         .commands = {}};
  const CommandTree queue{.path = "strata queue",
                          .name = "queue",
                          .summary = "Queues",
                          .footer = "",
                          .flags = {},
                          .arguments = {},
                          .commands = {list}};
  return {.path = "strata",
          .name = "strata",
          .summary = "Test program",
          .footer = "",
          .flags = {},
          .arguments = {},
          .commands = {get, queue}};
}

}  // namespace strata
