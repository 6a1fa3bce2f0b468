#include "agent/leaf_query.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace strata::agent {
namespace {

// A management datagram (InfiniBand Architecture 14.2.1): a header, 64 bytes of attribute, the way
// there and the way back.
constexpr std::size_t kMadBytes = 256;
constexpr std::size_t kAttributeAt = 64;
constexpr std::size_t kAttributeBytes = 64;
constexpr std::size_t kPathAt = 128;
constexpr std::uint8_t kDirectRouteClass = 0x81;
constexpr std::uint8_t kGet = 1;
constexpr std::uint8_t kGetResponse = 0x81;
constexpr std::uint16_t kNodeDescription = 0x10;
constexpr std::uint16_t kNodeInfo = 0x11;
constexpr std::uint8_t kSwitch = 2;         // NodeInfo.NodeType
constexpr int kPermissiveAddress = 0xffff;  // routed by the path alone

using Attribute = std::array<std::uint8_t, kAttributeBytes>;
using Mad = std::array<std::uint8_t, kMadBytes>;

void PutShort(std::span<std::uint8_t> to, std::uint16_t value) {
  to[0] = static_cast<std::uint8_t>(value >> 8U);
  to[1] = static_cast<std::uint8_t>(value & 255U);
}

// A question to the device that is one hop away through `port`.
Mad QuestionFor(std::uint16_t attribute, std::uint8_t port) {
  Mad bytes{};
  const std::span<std::uint8_t> mad = bytes;
  mad[0] = 1;  // versions of the header and of the class
  mad[1] = kDirectRouteClass;
  mad[2] = 1;
  mad[3] = kGet;
  mad[7] = 1;                            // hops
  PutShort(mad.subspan(14), attribute);  // the transaction: any number that tells two apart
  PutShort(mad.subspan(16), attribute);
  PutShort(mad.subspan(32), kPermissiveAddress);
  PutShort(mad.subspan(34), kPermissiveAddress);
  mad[kPathAt + 1] = port;
  return bytes;
}

bool Answers(const Mad& answer, const Mad& question) {
  const auto same = [&](std::size_t from, std::size_t count) {
    return std::equal(answer.begin() + static_cast<std::ptrdiff_t>(from),
                      answer.begin() + static_cast<std::ptrdiff_t>(from + count),
                      question.begin() + static_cast<std::ptrdiff_t>(from));
  };
  return answer[3] == kGetResponse && same(1, 1) && same(12, 6);
}

std::string Digits(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

// The functions of libibumad that are used, under their names there.
struct LeafQuery::Library {
  void* handle = nullptr;
  int (*umad_init)() = nullptr;
  int (*umad_open_port)(const char*, int) = nullptr;
  int (*umad_close_port)(int) = nullptr;
  int (*umad_register)(int, int, int, std::uint8_t, long*) = nullptr;
  std::size_t (*umad_size)() = nullptr;
  void* (*umad_get_mad)(void*) = nullptr;
  int (*umad_set_addr)(void*, int, int, int, int) = nullptr;
  int (*umad_send)(int, int, void*, int, int, int) = nullptr;
  int (*umad_recv)(int, void*, int*, int) = nullptr;
  int (*umad_status)(void*) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }

  template <typename Function>
  bool Find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  [[nodiscard]] bool FindAll() {
    return Find("umad_init", umad_init) && Find("umad_open_port", umad_open_port) &&
           Find("umad_close_port", umad_close_port) && Find("umad_register", umad_register) &&
           Find("umad_size", umad_size) && Find("umad_get_mad", umad_get_mad) &&
           Find("umad_set_addr", umad_set_addr) && Find("umad_send", umad_send) &&
           Find("umad_recv", umad_recv) && Find("umad_status", umad_status);
  }

  // Through an open port, at which we are registered as `agent`.
  [[nodiscard]] Result<Attribute> Get(
      int open_port, int agent, std::uint16_t attribute, std::uint8_t port, Duration limit) const {
    const Mad question = QuestionFor(attribute, port);
    std::vector<std::uint64_t> buffer((umad_size() + kMadBytes) / sizeof(std::uint64_t) + 1);
    std::memcpy(umad_get_mad(buffer.data()), question.data(), kMadBytes);
    umad_set_addr(buffer.data(), kPermissiveAddress, 0, 0, 0);
    const int wait_ms = static_cast<int>(limit.count());
    if (umad_send(open_port, agent, buffer.data(), kMadBytes, wait_ms, 0) < 0) {
      return Fail(Code::kUnavailable, "the question cannot be sent");
    }
    // Once the kernel gives up it says so; that is waited for a little longer.
    int length = kMadBytes;
    if (umad_recv(open_port, buffer.data(), &length, wait_ms * 2) < 0 ||
        umad_status(buffer.data()) != 0) {
      return Fail(Code::kUnavailable, "no answer");
    }
    Mad answer{};
    std::memcpy(answer.data(), umad_get_mad(buffer.data()), kMadBytes);
    if (!Answers(answer, question)) return Fail(Code::kUnavailable, "an answer to something else");
    Attribute out{};
    std::copy_n(answer.begin() + kAttributeAt, kAttributeBytes, out.begin());
    return out;
  }
};

LeafQuery::LeafQuery(std::unique_ptr<Library> library) : library_(std::move(library)) {}
LeafQuery::LeafQuery(LeafQuery&&) noexcept = default;
LeafQuery& LeafQuery::operator=(LeafQuery&&) noexcept = default;
LeafQuery::~LeafQuery() = default;

Result<LeafQuery> LeafQuery::Load() {
  constexpr const char* kName = "libibumad.so.3";
  auto library = std::make_unique<Library>();
  library->handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    return Fail(Code::kUnavailable, fmt::format("{} is not there (package libibumad3)", kName));
  }
  if (!library->FindAll()) return Fail(Code::kUnavailable, fmt::format("{}: too old", kName));
  if (library->umad_init() < 0) {
    return Fail(Code::kUnavailable, "no InfiniBand management (is the module ib_umad loaded?)");
  }
  return LeafQuery(std::move(library));
}

Result<Leaf> LeafQuery::Ask(const std::string& device, std::int32_t port, Duration limit) {
  const auto what = fmt::format("{} port {}", device, port);
  const int open_port = library_->umad_open_port(device.c_str(), port);
  if (open_port < 0) {
    return Fail(Code::kUnavailable, what + ": its file /dev/infiniband/umad* cannot be opened");
  }
  const auto ask = [&]() -> Result<Leaf> {
    const int agent = library_->umad_register(open_port, kDirectRouteClass, 1, 0, nullptr);
    if (agent < 0) return Fail(Code::kUnavailable, "the kernel takes no questions");
    const auto number = static_cast<std::uint8_t>(port);
    TRY_ASSIGN(const Attribute info, library_->Get(open_port, agent, kNodeInfo, number, limit));
    if (info[2] != kSwitch) return Fail(Code::kNotFound, "no switch is at the other end");
    TRY_ASSIGN(const Attribute text,
               library_->Get(open_port, agent, kNodeDescription, number, limit));
    constexpr std::size_t kGuidAt = 12;
    constexpr std::size_t kGuidBytes = 8;
    return Leaf{.guid = Digits(std::span(info).subspan(kGuidAt, kGuidBytes)),
                .description = std::string(text.begin(), std::find(text.begin(), text.end(), 0))};
  };
  Result<Leaf> leaf = ask();
  library_->umad_close_port(open_port);
  if (!leaf) return tl::unexpected(std::move(leaf.error()).Context(what));
  return leaf;
}

}  // namespace strata::agent
