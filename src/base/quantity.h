#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata {

// A Kubernetes quantity ("1500m", "16Gi", "1e3", "0.5"), exact to a billionth.
//
// A number takes one suffix at most: n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent (e3,
// E-3). What is finer than a billionth is rounded away from zero, as Kubernetes does. A parsed
// quantity is within +-(2^63-1); sums may exceed that (about 10^10 of the largest fit) and then
// have no Value().
//
// Compares by value: "1" equals "1000m". The suffix family is kept only for printing.
class Quantity {
 public:
  constexpr Quantity() = default;
  [[nodiscard]] static constexpr Quantity FromValue(std::int64_t value) {
    return Quantity(Nano{value} * 1'000'000'000);
  }
  [[nodiscard]] static constexpr Quantity FromMilli(std::int64_t milli) {
    return Quantity(Nano{milli} * 1'000'000);
  }
  // kInvalidArgument with one sentence that says what was expected; it quotes `text`.
  [[nodiscard]] static Result<Quantity> Parse(std::string_view text);

  // In thousandths, and in whole units, each rounded away from zero; kInvalidArgument when the
  // number does not fit into 64 bits.
  [[nodiscard]] Result<std::int64_t> Milli() const;
  [[nodiscard]] Result<std::int64_t> Value() const;

  [[nodiscard]] constexpr bool IsZero() const { return nano_ == 0; }
  [[nodiscard]] constexpr bool IsNegative() const { return nano_ < 0; }
  [[nodiscard]] constexpr bool IsInteger() const { return nano_ % 1'000'000'000 == 0; }

  constexpr Quantity& operator+=(const Quantity& other) {
    if (IsZero()) binary_ = other.binary_;
    nano_ += other.nano_;
    return *this;
  }
  constexpr Quantity& operator-=(const Quantity& other) {
    if (IsZero()) binary_ = other.binary_;
    nano_ -= other.nano_;
    return *this;
  }
  [[nodiscard]] friend constexpr Quantity operator+(Quantity a, const Quantity& b) {
    return a += b;
  }
  [[nodiscard]] friend constexpr Quantity operator-(Quantity a, const Quantity& b) {
    return a -= b;
  }
  // REQUIRES: the product of the factors stays below 10^29 units.
  [[nodiscard]] friend constexpr Quantity operator*(Quantity a, std::int64_t times) {
    a.nano_ *= times;
    return a;
  }
  friend constexpr std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nano_ <=> b.nano_;
  }
  friend constexpr bool operator==(const Quantity& a, const Quantity& b) {
    return a.nano_ == b.nano_;
  }

  // Kubernetes' canonical form in the family the quantity was written in: "1500m", "16Gi", "1k".
  // Binary ones below 1024, or with a fraction, are decimal: "0.5Ki" is "512", "1000" is "1k". One
  // that no power of 1024 divides has no suffix, and is read as decimal.
  [[nodiscard]] std::string ToString() const;

 private:
  __extension__ using Nano = __int128;

  explicit constexpr Quantity(Nano nano, bool binary = false) : nano_(nano), binary_(binary) {}

  Nano nano_ = 0;
  bool binary_ = false;
};

}  // namespace strata
