#include "apps/lease_identity.h"

#include <unistd.h>

#include <array>
#include <random>

#include <fmt/format.h>

namespace strata {

std::string NewLeaseIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

}  // namespace strata
