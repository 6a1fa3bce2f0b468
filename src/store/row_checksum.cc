#include "store/row_checksum.h"

#include <zlib.h>

#include <array>

namespace strata::store {
namespace {

class Crc {
 public:
  Crc& Add(std::string_view text) {
    Add(static_cast<std::int64_t>(text.size()));
    // An empty view may have no data, which zlib takes for the start of a new sum.
    if (text.empty()) return *this;
    value_ = crc32_z(value_, reinterpret_cast<const Bytef*>(text.data()), text.size());
    return *this;
  }
  Crc& Add(std::int64_t number) {
    std::array<Bytef, sizeof(number)> bytes{};
    auto rest = static_cast<std::uint64_t>(number);
    for (Bytef& byte : bytes) {
      byte = static_cast<Bytef>(rest & 0xffU);
      rest >>= 8U;
    }
    value_ = crc32_z(value_, bytes.data(), bytes.size());
    return *this;
  }
  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(value_); }

 private:
  uLong value_ = 0;
};

}  // namespace

std::int64_t ChecksumOf(const Row& row) {
  return Crc().Add(row.resource).Add(row.ns).Add(row.name).Add(row.version).Add(row.body).value();
}

std::int64_t ChecksumOf(std::string_view setting, std::string_view value) {
  return Crc().Add(setting).Add(value).value();
}

}  // namespace strata::store
