#include "objects/node.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {

void ReadObject(const Cursor& object, Node& out) {
  const Cursor spec = object.At("spec");
  spec.At("unschedulable").Read(out.unschedulable);
  spec.At("taints").ForEach([&](const Cursor& item) {
    Taint taint;
    ReadTaint(item, taint);
    const bool twice = std::any_of(out.taints.begin(), out.taints.end(), [&](const Taint& other) {
      return other.key == taint.key && other.effect == taint.effect;
    });
    if (twice) item.Fail("duplicate taint (same key and effect)");
    out.taints.push_back(std::move(taint));
  });

  const Cursor status = object.At("status");
  ReadResources(status.At("capacity"), out.capacity);
  const Cursor allocatable = status.At("allocatable");
  if (allocatable.present()) {
    ReadResources(allocatable, out.allocatable);
  } else {
    out.allocatable = out.capacity;
  }
  ReadConditions(status.At("conditions"), out.conditions);
  status.At("images").ReadList(out.images, [](const Cursor& item, NodeImage& image) {
    item.At("names").Read(image.names);
    item.At("sizeBytes").Read(image.size_bytes, {0, INT64_MAX});
  });
  status.At("addresses").ForEach([&](const Cursor& item) {
    std::string type;
    std::string address;
    item.At("type").Read(type);
    item.At("address").Read(address);
    if (type == "InternalIP") out.internal_ips.push_back(std::move(address));
  });
}

}  // namespace strata::objects
