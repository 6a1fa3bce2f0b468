#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "discovery/fabric.h"
#include "model/labels.h"

namespace strata::discovery {

// A HyperNode to be, still without its final name.
struct Group {
  std::int32_t tier = 1;  // from 1, inside its own tree
  std::string tier_name;
  std::string anchor;                 // what it is named after: a switch, a block
  std::string identity;               // tells groups of one anchor and tier apart
  std::string name;                   // where the source has names of its own; else ""
  Labels labels;                      // beside those that every HyperNode of the source gets
  std::vector<std::string> nodes;     // direct members, ascending
  std::vector<std::size_t> children;  // direct members: groups of the same tree
};

// A forest: every group is the child of one other at most, every node the member of one group.
struct Tree {
  std::vector<Group> groups;       // children before their parents
  std::vector<std::string> notes;  // what a person should look at, one line each
};

// The nodes below each group of `tree`, ascending.
[[nodiscard]] std::vector<std::vector<std::string>> NodesBelow(const Tree& tree);

// Makes the tree of a fabric.
//
// Level 1 are the switches with hosts, each further level the switches next to the one below.
// Inside a level, switches whose children overlap by half or more (by links, of the smaller side)
// are one group: rails of one pod join, a mis-cabled port does not. A host or a group belongs where
// most of its links go; ties go to the group of its previous mates (`previous_leaf`: node -> name
// of the leaf it was in), then to the lower switch name. A level in which no group has two children
// says nothing and is left out. What is connected and still has several tops gets one more tier. A
// host without any link stays with its previous mates, and is in no group if it had none.
//
// Pure; the order of the fabric's parts does not matter. COST: links x log, and per child the
// square of the number of different switch neighbourhoods above it.
[[nodiscard]] Tree FormTree(const Fabric& fabric,
                            const std::map<std::string, std::string>& previous_leaf = {});

}  // namespace strata::discovery
