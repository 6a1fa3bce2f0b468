#pragma once

#include <cstddef>
#include <string_view>

#include "schema/check.h"
#include "schema/path.h"
#include "schema/schema.h"

// Walks through an object along its schema, for objects of whatever representation. A Node is a
// value of an object: IsArray(), IsObject(), ForEachItem(f(Node)), ForEachMember(f(key, Node)).
namespace strata::schema {

// Calls `enter(schema, node, path)` for each object of `node` that the schema knows, parents first,
// and goes on below where that says true; `unknown(path)` for each member that it does not know.
template <typename Node, typename Enter, typename Unknown>
void WalkKnown(const Schema& schema,
               const Node& node,
               const Path& path,
               const Enter& enter,
               const Unknown& unknown) {
  if (node.IsArray()) {
    if (schema.type != Type::kArray || schema.items == nullptr) return;
    std::size_t index = 0;
    node.ForEachItem([&](const Node& item) {
      WalkKnown(*schema.items, item, path.Index(index++), enter, unknown);
    });
    return;
  }
  if (!node.IsObject() || !enter(schema, node, path)) return;
  node.ForEachMember([&](std::string_view key, const Node& member) {
    const Path at = path.Key(key);
    if (const Field* field = schema.Find(key)) {
      WalkKnown(*field->schema, member, at, enter, unknown);
    } else if (schema.type == Type::kMap && schema.items != nullptr) {
      WalkKnown(*schema.items, member, at, enter, unknown);
    } else if (schema.type == Type::kObject && !schema.preserve_unknown) {
      unknown(at);
    }
  });
}

}  // namespace strata::schema
