#pragma once

#include <memory>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace strata::wire {

// An empty message of a type of src/wire/proto that bodies have: "Pod". From any thread.
// REQUIRES: there is such a type.
[[nodiscard]] std::unique_ptr<google::protobuf::Message> NewMessage(std::string_view type);

}  // namespace strata::wire
