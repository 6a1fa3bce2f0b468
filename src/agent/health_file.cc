#include "agent/health_file.h"

#include <sys/stat.h>

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::agent {
namespace {

using Json = nlohmann::json;

}  // namespace

DriverLife ReadDriverLife(const std::string& proc, const std::string& sysfs) {
  DriverLife life;
  std::ifstream(proc + "/sys/kernel/random/boot_id") >> life.boot;
  // The kernel never gives the number of this folder to another one: it differs when the module is
  // loaded again.
  struct stat info {};
  if (stat((sysfs + "/module/nvidia").c_str(), &info) == 0) {
    life.driver = fmt::format("{}", info.st_ino);
  }
  return life;
}

std::string HealthText(const DriverLife& life, const GpuHealth::Errors& errors) {
  Json gpus = Json::object();
  for (const auto& [uuid, error] : errors) {
    gpus[uuid] = {{"xid", error.xid}, {"at", error.at.time_since_epoch().count()}};
  }
  return DumpJson({{"boot", life.boot}, {"driver", life.driver}, {"gpus", std::move(gpus)}});
}

GpuHealth::Errors ReadHealthText(std::string_view text, const DriverLife& life) {
  GpuHealth::Errors errors;
  const Json root = ParseJsonOrNull(text);
  if (life.boot.empty() || TextAt(root, {"boot"}) != life.boot ||
      TextAt(root, {"driver"}) != life.driver) {
    return errors;
  }
  for (const auto& [uuid, gpu] : ObjectAt(root, {"gpus"}).items()) {
    const std::int64_t xid = IntegerAt(gpu, {"xid"}, -1);
    if (xid < 0) continue;
    errors[uuid] = {.xid = static_cast<std::uint64_t>(xid),
                    .at = net::SteadyTime(Duration(IntegerAt(gpu, {"at"})))};
  }
  return errors;
}

}  // namespace strata::agent
