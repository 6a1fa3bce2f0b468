#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "device_plugin/allocations.h"
#include "device_plugin/plugin_server.h"
#include "device_plugin/registration_state.h"
#include "device_plugin/socket_folder.h"
#include "obs/log.h"

namespace strata::device_plugin {

struct RegistrarOptions {
  std::string folder = "/var/lib/kubelet/device-plugins";
  std::string resource = "nvidia.com/gpu";
  RegistrationTimes times;
  // Sockets of other plugins for the same resource: while one of them is served we do not register.
  std::vector<std::string> foreign_sockets = {"nvidia-gpu.sock"};
};

struct RegistrarStatus {
  bool connected = false;  // the kubelet watches our devices
  std::string problem;     // why it does not, for /readyz; "" while connected
  std::int64_t registrations = 0;
  bool foreign_plugin = false;
};

// Keeps the plugin registered with whichever kubelet there is: a thread that makes a server with a
// new socket, registers it, and begins anew when RegistrationState says so. It never ends because a
// kubelet is away.
class Registrar {
 public:
  // `before` is called on the thread before each registration; it may block for some seconds, and
  // a failure of it is one of the registration.
  Registrar(RegistrarOptions options,
            Allocations& allocations,
            std::function<Status()> before,
            const obs::Log& log);
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;
  // Ends the stream and the server; the socket is gone afterwards.
  ~Registrar();

  // The devices to offer. The first call makes the thread register.
  void SetDevices(DeviceList devices);
  [[nodiscard]] RegistrarStatus status() const;

  // "strata-nvidia.com-gpu-": what the names of our sockets begin with.
  [[nodiscard]] static std::string SocketPrefix(const std::string& resource);

 private:
  using Instant = RegistrationState::Instant;
  struct StreamNote {
    int server;
    PluginService::StreamEvent event;
  };

  [[nodiscard]] std::string KubeletSocket() const { return options_.folder + "/kubelet.sock"; }
  void Run();
  void Look(Instant now);
  void TakeNotes(Instant now);
  [[nodiscard]] Status Register();
  [[nodiscard]] Status ServeAnew();
  [[nodiscard]] Status CallRegister();
  void Show(const Status& registered);
  [[nodiscard]] bool stopping() const;

  const RegistrarOptions options_;
  Allocations& allocations_;
  const std::function<Status()> before_;
  const obs::Log& log_;
  FolderWatch watch_;

  // Used by the thread alone.
  RegistrationState state_;
  std::optional<SocketIdentity> kubelet_;
  int server_number_ = 0;

  mutable Mutex mutex_;
  std::unique_ptr<PluginServer> server_ GUARDED_BY(mutex_);  // replaced by the thread alone
  DeviceList devices_ GUARDED_BY(mutex_);
  std::vector<StreamNote> notes_ GUARDED_BY(mutex_);
  grpc::ClientContext* call_ GUARDED_BY(mutex_) = nullptr;  // under way
  RegistrarStatus status_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace strata::device_plugin
