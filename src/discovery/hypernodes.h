#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/host_names.h"
#include "discovery/previous.h"
#include "discovery/tree.h"
#include "objects/hypernode.h"

namespace strata::discovery {

// The HyperNodes of a tree, with the labels of their owner.
//
// A name is hn-<source>[-<name>]-t<tier>-<slug of the anchor>, unless the group has one of its own.
// The tier in it is that inside the tree. A group that has at least half of its nodes in common
// with a previous HyperNode of the tier keeps that one's name, so that names stay when their switch
// goes. No name is one that somebody else has.
[[nodiscard]] std::vector<objects::HyperNode> NameTree(const Tree& tree,
                                                       const Owner& owner,
                                                       const Previous& previous);

// The HyperNodes of a program's manifests, with the labels of `owner`. Nodes that are none are left
// out (counted in `left_out`), and HyperNodes that hold nothing then.
//
// kInvalidArgument for broken manifests, and for what is not a forest: a second parent, a missing
// child, a parent whose tier is not above the child's.
[[nodiscard]] Result<std::vector<objects::HyperNode>> AdoptManifests(const std::string& text,
                                                                     const Owner& owner,
                                                                     const HostNames& names,
                                                                     std::size_t& left_out);

// Sets the labels that name its discovery source.
void SetOwner(objects::HyperNode& hypernode, const Owner& owner);

[[nodiscard]] HyperNodeMember ExactMember(HyperNodeMember::Kind kind, const std::string& name);

}  // namespace strata::discovery
