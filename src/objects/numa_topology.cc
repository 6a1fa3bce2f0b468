#include "objects/numa_topology.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {

void ReadObject(const Cursor& object, NumaTopology& out) {
  const Cursor spec = object.At("spec");
  Labels policies;
  spec.At("policies").ReadStrings(policies);
  out.policies.insert(policies.begin(), policies.end());
  ReadResources(spec.At("resReserved"), out.reserved);
  spec.At("numares").ForEachMember([&](std::string_view name, const Cursor& at) {
    NumaTopology::Resource& resource = out.resources[std::string(name)];
    at.At("allocatable").Read(resource.allocatable);
    at.At("capacity").Read(resource.capacity, kCount32);
  });
  spec.At("cpuDetail").ForEachMember([&](std::string_view id, const Cursor& at) {
    std::int32_t cpu = -1;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), cpu);
    if (error != std::errc() || end != id.data() + id.size() || cpu < 0) {
      return at.Fail("want a cpu number as key");
    }
    NumaTopology::Cpu& detail = out.cpus[cpu];
    at.At("numa").Read(detail.numa, kCount32);
    at.At("socket").Read(detail.socket, kCount32);
    at.At("core").Read(detail.core, kCount32);
  });
}

}  // namespace strata::objects
