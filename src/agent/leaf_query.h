#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace strata::agent {

// The switch at the other end of an InfiniBand link.
struct Leaf {
  std::string guid;  // of the node, 16 digits
  std::string description;
};

// Asks the switches that this machine is linked with for their GUIDs and names: by two packets that
// go over one link and back (direct routed subnet management), which need no address and no subnet
// manager, but the right to write /dev/infiniband/umad*. Uses libibumad, loaded at run time.
class LeafQuery {
 public:
  // kUnavailable when the library is not there.
  [[nodiscard]] static Result<LeafQuery> Load();
  LeafQuery(LeafQuery&&) noexcept;
  LeafQuery& operator=(LeafQuery&&) noexcept;
  LeafQuery(const LeafQuery&) = delete;
  LeafQuery& operator=(const LeafQuery&) = delete;
  ~LeafQuery();

  // Waits at most `limit` for each of two answers. kUnavailable when the switch cannot be asked or
  // does not answer, kNotFound when something else is at the other end.
  [[nodiscard]] Result<Leaf> Ask(const std::string& device, std::int32_t port, Duration limit);

 private:
  struct Library;
  explicit LeafQuery(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace strata::agent
