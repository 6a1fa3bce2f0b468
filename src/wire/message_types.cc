#include "wire/message_types.h"

#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include "base/check.h"

namespace strata::wire {

// The FileDescriptorSet of src/wire/proto (src/wire/CMakeLists.txt).
std::string_view DescriptorBytes();

namespace {

// The types, and messages made from them.
class MessageTypes {
 public:
  MessageTypes() {
    google::protobuf::FileDescriptorSet files;
    const std::string_view bytes = DescriptorBytes();
    CHECK(files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    for (const google::protobuf::FileDescriptorProto& file : files.file()) {
      CHECK(pool_.BuildFile(file) != nullptr);
    }
  }

  std::unique_ptr<google::protobuf::Message> New(std::string_view type) {
    const google::protobuf::Descriptor* found =
        pool_.FindMessageTypeByName("strata.wire.proto." + std::string(type));
    CHECK(found != nullptr);
    return std::unique_ptr<google::protobuf::Message>(factory_.GetPrototype(found)->New());
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;  // goes before the pool
};

}  // namespace

std::unique_ptr<google::protobuf::Message> NewMessage(std::string_view type) {
  static MessageTypes types;
  return types.New(type);
}

}  // namespace strata::wire
