#include "device_plugin/registrar.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "device_plugin/cache_folder.h"
#include "device_plugin/local_channel.h"

namespace strata::device_plugin {
namespace {

Duration Until(RegistrationState::Instant wake, RegistrationState::Instant now) {
  return std::chrono::ceil<Duration>(
      std::max(wake - now, RegistrationState::Instant::duration::zero()));
}

}  // namespace

std::string Registrar::SocketPrefix(const std::string& resource) {
  std::string name = resource;
  std::replace(name.begin(), name.end(), '/', '-');
  return fmt::format("strata-{}-", name);
}

Registrar::Registrar(RegistrarOptions options,
                     Allocations& allocations,
                     std::function<Status()> before,
                     const obs::Log& log)
    : options_(std::move(options)),
      allocations_(allocations),
      before_(std::move(before)),
      log_(log),
      watch_(options_.folder),
      state_(options_.times) {
  status_.problem = "the GPUs of this node are not known yet";
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "plugin-register");
    Run();
  });
}

Registrar::~Registrar() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  watch_.Wake();
  thread_.join();
  std::unique_ptr<PluginServer> last;
  {
    const MutexLock lock(mutex_);
    last = std::move(server_);
  }
}

void Registrar::SetDevices(DeviceList devices) {
  const MutexLock lock(mutex_);
  const bool first = devices_ == nullptr;
  devices_ = std::move(devices);
  if (server_ != nullptr) server_->SetDevices(devices_);
  if (first) watch_.Wake();
}

RegistrarStatus Registrar::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

bool Registrar::stopping() const {
  const MutexLock lock(mutex_);
  return stopping_;
}

void Registrar::Run() {
  RemoveDeadSockets(options_.folder, SocketPrefix(options_.resource));
  for (;;) {
    const Instant now = std::chrono::steady_clock::now();
    bool ready = false;
    {
      const MutexLock lock(mutex_);
      if (stopping_) return;
      ready = devices_ != nullptr;
    }
    TakeNotes(now);
    Look(now);
    RegistrationState::Next next;
    if (ready) next = state_.Decide(now);
    if (next.action == RegistrationState::Action::kRegister) {
      const Status registered = Register();
      const Instant after = std::chrono::steady_clock::now();
      if (registered) {
        state_.Registered(after);
      } else {
        state_.RegisterFailed(after);
      }
      Show(registered);
      continue;
    }
    const Duration look = options_.times.look_again;
    watch_.Wait(next.wake ? std::min(look, Until(*next.wake, now)) : look);
  }
}

// What happened to the sockets.
void Registrar::Look(Instant now) {
  const auto kubelet = IdentityOf(KubeletSocket());
  if (kubelet != kubelet_) {
    kubelet_ = kubelet;
    if (kubelet) {
      state_.KubeletAppeared(now);
    } else {
      state_.KubeletGone();
    }
  }
  std::string ours;
  {
    const MutexLock lock(mutex_);
    if (server_ != nullptr) ours = server_->socket();
    if (!kubelet) status_.problem = "there is no kubelet.sock in " + options_.folder;
    status_.connected = state_.connected();
  }
  if (!ours.empty() && !IdentityOf(ours)) state_.OurSocketGone(now);
}

// What the kubelet did with the stream of the current server; earlier servers do not count.
void Registrar::TakeNotes(Instant now) {
  std::vector<StreamNote> notes;
  {
    const MutexLock lock(mutex_);
    notes.swap(notes_);
  }
  for (const StreamNote& note : notes) {
    if (note.server != server_number_) continue;
    const bool opened = note.event == PluginService::StreamEvent::kOpened;
    if (opened) {
      state_.StreamOpened(now);
    } else {
      state_.StreamEnded(now);
    }
    log_.Info(opened ? "kubelet watches the devices" : "kubelet ended the watch of the devices");
    const MutexLock lock(mutex_);
    status_.connected = state_.connected();
    status_.problem = opened ? "" : "the kubelet ended the watch of the devices";
  }
}

Status Registrar::Register() {
  for (const std::string& name : options_.foreign_sockets) {
    const std::string socket = options_.folder + "/" + name;
    const bool served = IsServed(socket);
    const MutexLock lock(mutex_);
    status_.foreign_plugin = served;
    if (served) {
      return Fail(Code::kConflict,
                  fmt::format("another device plugin offers {}: {} is served; remove that plugin "
                              "from the node",
                              options_.resource,
                              socket));
    }
  }
  if (before_) TRY(before_());
  TRY(ServeAnew());
  const auto kubelet = IdentityOf(KubeletSocket());
  TRY(CallRegister());
  kubelet_ = kubelet;  // it may have appeared since the last look: that is the one we are with
  return {};
}

// Ends the previous server first: a kubelet before 1.37 would drop the new one when the stream of
// the old one ends.
Status Registrar::ServeAnew() {
  std::unique_ptr<PluginServer> previous;
  DeviceList devices;
  {
    const MutexLock lock(mutex_);
    previous = std::move(server_);
    devices = devices_;
  }
  previous.reset();
  const int number = ++server_number_;
  TRY_ASSIGN(std::unique_ptr<PluginServer> server,
             PluginServer::Listen(
                 fmt::format(
                     "{}/{}{}.sock", options_.folder, SocketPrefix(options_.resource), RandomHex()),
                 devices,
                 allocations_,
                 [this, number](PluginService::StreamEvent event) {
                   const MutexLock lock(mutex_);
                   notes_.push_back({.server = number, .event = event});
                   watch_.Wake();
                 }));
  const MutexLock lock(mutex_);
  server_ = std::move(server);
  server_->SetDevices(devices_);  // they may have changed meanwhile
  return {};
}

Status Registrar::CallRegister() {
  v1beta1::RegisterRequest request;
  grpc::ClientContext context;
  {
    const MutexLock lock(mutex_);
    if (stopping_) return Fail(Code::kUnavailable, "the agent ends");
    call_ = &context;
    const std::string& socket = server_->socket();
    request.set_endpoint(socket.substr(socket.rfind('/') + 1));
  }
  request.set_version("v1beta1");
  request.set_resource_name(options_.resource);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  SetLimit(context, options_.times.call_limit);
  const auto stub = v1beta1::Registration::NewStub(LocalChannel(KubeletSocket()));
  v1beta1::Empty answer;
  const grpc::Status status = stub->Register(&context, request, &answer);
  const MutexLock lock(mutex_);
  call_ = nullptr;
  if (!status.ok()) return tl::unexpected(ErrorOf(status, "Register with the kubelet"));
  ++status_.registrations;
  return {};
}

void Registrar::Show(const Status& registered) {
  const std::string problem =
      registered ? "the kubelet does not watch the devices yet" : registered.error().message;
  bool changed = false;
  {
    const MutexLock lock(mutex_);
    changed = status_.problem != problem;
    status_.problem = problem;
    status_.connected = false;
  }
  if (registered) {
    log_.Info("registered with the kubelet", {{"resource", options_.resource}});
  } else if (changed) {
    log_.Warning("registration failed", {{"error", problem}});
  }
}

}  // namespace strata::device_plugin
