#include "nvml/xid_watch.h"

#include <array>

#include <fmt/format.h>

namespace strata::nvml {
namespace {

bool HasEvents(const Api& api) {
  return api.create_event_set != nullptr && api.register_events != nullptr &&
         api.wait_for_event != nullptr && api.free_event_set != nullptr;
}

}  // namespace

std::unique_ptr<XidWatch> XidWatch::Open(const Api& api, std::vector<std::string>& problems) {
  EventSet set = nullptr;
  if (!HasEvents(api) || api.create_event_set(&set) != kSuccess) return nullptr;
  std::unique_ptr<XidWatch> watch(new XidWatch(api, set));
  unsigned int count = 0;
  if (api.device_count(&count) != kSuccess) count = 0;
  for (unsigned int i = 0; i < count; ++i) watch->Add(i, problems);
  return watch;
}

void XidWatch::Add(unsigned int index, std::vector<std::string>& problems) {
  Device device = nullptr;
  if (api_.device_by_index(index, &device) != kSuccess) return;  // the probe tells
  const int code = api_.register_events(device, kXidEvents, set_);
  if (code == kSuccess) return;
  const char* text = api_.error_string == nullptr ? nullptr : api_.error_string(code);
  problems.push_back(fmt::format("GPU {}: critical errors cannot be watched: {}",
                                 index,
                                 text == nullptr ? fmt::format("error {}", code) : text));
}

XidWatch::~XidWatch() {
  api_.free_event_set(set_);
}

XidWatch::Outcome XidWatch::Wait(std::chrono::milliseconds limit, XidEvent& event) {
  EventData data{};
  const int code = api_.wait_for_event(set_, &data, static_cast<unsigned int>(limit.count()));
  if (code == kTimeout) return Outcome::kNothing;
  if (code != kSuccess) return Outcome::kFailed;
  if (data.type != kXidEvents) return Outcome::kNothing;
  event.xid = data.data;
  event.uuid.clear();
  std::array<char, 96> uuid{};
  if (data.device != nullptr && api_.uuid != nullptr &&
      api_.uuid(data.device, uuid.data(), uuid.size()) == kSuccess) {
    uuid.back() = '\0';
    event.uuid = uuid.data();
  }
  return Outcome::kEvent;
}

}  // namespace strata::nvml
