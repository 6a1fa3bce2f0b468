#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The few things that this folder reads in the texts of objects. Nothing is kept parsed.
namespace strata::kube {

struct ObjectKey {
  std::string ns;  // "" for objects of the cluster
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

struct ObjectHead {
  ObjectKey key;
  std::string uid;
  std::string version;  // metadata.resourceVersion
  bool has_kind = false;
  bool ends_initial_events = false;  // the annotation k8s.io/initial-events-end
  // Why objects::Document cannot hold it though it is JSON (too deep, a number beyond 64 bits); ""
  // when it can. Asking again would not help, as it would with bytes that were garbled on the way.
  std::string unreadable;
};

// Reads all of `object`, so that what is passed on is known to be JSON. kInvalidArgument when it is
// no object with a resourceVersion.
[[nodiscard]] Result<ObjectHead> ReadHead(std::string_view object);

// One line of a watch: {"type":"ADDED","object":{...}}. `object` points into `line`.
struct WatchLine {
  std::string type;
  std::string_view object;
};
[[nodiscard]] Result<WatchLine> CutWatchLine(std::string& line);

// A list, cut into its objects, which point into `body`.
struct ListPage {
  std::string version;  // of the list
  std::string next;     // metadata.continue; "" on the last page
  std::string kind;     // "PodList"
  std::string api_version;
  std::vector<std::string_view> items;
};
[[nodiscard]] Result<ListPage> CutList(std::string& body);

// The text of an item of a list with kind and apiVersion put in where they are missing, as they are
// for built-in kinds: an object looks the same however it came.
[[nodiscard]] std::string ItemText(std::string_view item,
                                   const ObjectHead& head,
                                   const ListPage& page);

}  // namespace strata::kube
