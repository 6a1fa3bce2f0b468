#pragma once

#include <cstdint>
#include <string>

#include "kube/failure.h"

namespace strata::kube {

// Something that went wrong while an informer follows its collection. The informer goes on by
// itself; the owner of the informer decides what it means.
struct WatchTrouble {
  enum class Kind : std::uint8_t {
    kFailed,         // the collection could not be read; it is asked for again
    kObjectSkipped,  // one object cannot be read and is left out
  };
  Kind kind = Kind::kFailed;
  int source = 0;        // which informer, as Informers::Add numbered it
  std::string resource;  // the collection, in the plural: "pods"
  std::string message;   // one line: "connection refused", "ns/name: passed over: ..."
  Failure failure;       // of kFailed

  // The server does not have the collection. Nothing else says so: a server that forbids it or
  // fails may have objects that matter.
  [[nodiscard]] bool IsMissing() const {
    return kind == Kind::kFailed && failure.http_status == 404;
  }
  // For people: "pods: connection refused".
  [[nodiscard]] std::string Text() const { return resource + ": " + message; }
};

}  // namespace strata::kube
