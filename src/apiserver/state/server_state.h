#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/resources/resource.h"
#include "apiserver/state/list_snapshots.h"
#include "apiserver/state/options.h"
#include "apiserver/store/listeners.h"
#include "apiserver/store/object_store.h"
#include "base/clock.h"

namespace strata::apiserver {

// What every verb works on.
struct ServerState {
  ServerState(ObjectStore& the_store,
              Timers& the_timers,
              const Clock& the_clock,
              RandomSource& the_random,
              ApiServerOptions the_options)
      : store(the_store),
        timers(the_timers),
        clock(the_clock),
        random(the_random),
        options(std::move(the_options)) {}

  ObjectStore& store;
  Timers& timers;
  const Clock& clock;
  RandomSource& random;
  ApiServerOptions options;
  ResourceTable table;
  Listeners table_listeners;  // called when custom kinds are added, changed or removed
  ListSnapshots snapshots;
  // Documents made from the table, by path and form, as of `documents_revision`.
  std::map<std::string, std::string> documents;
  std::uint64_t documents_revision = 0;
  // The generation in which each CustomResourceDefinition is served.
  std::map<std::string, std::int64_t> definitions;
  // Work in progress holds a weak pointer to it, and does nothing once the server is destroyed.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  [[nodiscard]] Time now() const { return clock.Now(); }
};

// The key of an object in the store.
[[nodiscard]] inline ObjectKey KeyOf(const Resource& resource, std::string ns, std::string name) {
  return {resource.FullName(), std::move(ns), std::move(name)};
}

}  // namespace strata::apiserver
