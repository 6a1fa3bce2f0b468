#include "report/device_json.h"

#include <nlohmann/json.hpp>

namespace strata {

nlohmann::ordered_json DevicesToJson(const DeviceRecord& devices) {
  nlohmann::ordered_json containers = nlohmann::ordered_json::object();
  for (const DeviceRecord::Container& container : devices.containers) {
    containers[container.name] = {{"uuids", container.uuids},
                                  {"links", container.links},
                                  {"score", container.score},
                                  {"best", container.best},
                                  {"proven", container.proven}};
  }
  return containers;
}

}  // namespace strata
