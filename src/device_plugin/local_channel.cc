#include "device_plugin/local_channel.h"

#include <fmt/format.h>

namespace strata::device_plugin {
namespace {

constexpr int kMaxMessageBytes = 64 * 1024 * 1024;  // all pods of a node, with their annotations

}  // namespace

std::shared_ptr<grpc::Channel> LocalChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

void SetLimit(grpc::ClientContext& context, Duration limit) {
  context.set_deadline(std::chrono::system_clock::now() + limit);
}

Error ErrorOf(const grpc::Status& status, const std::string& what) {
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  return {.code = Code::kUnavailable,
          .message = late ? fmt::format("{}: no answer in time", what)
                          : fmt::format("{}: {}", what, status.error_message())};
}

}  // namespace strata::device_plugin
