#include "objects/secret.h"

#include <string>
#include <string_view>

#include "objects/readers.h"

namespace strata::objects {
namespace {

// Not Cursor::ReadStrings, whose messages quote a value of the wrong type.
void ReadHiddenStrings(const Cursor& at, Labels& out) {
  if (at.present() && at.value().type() != Value::Type::kObject) {
    return at.Fail("want an object with keys and strings");
  }
  at.ForEachMember([&](std::string_view key, const Cursor& member) {
    if (!member.present()) return;
    if (member.value().type() != Value::Type::kString) {
      return member.Fail("want a string (put it in quotes)");
    }
    out.insert_or_assign(std::string(key), std::string(member.value().AsString()));
  });
}

}  // namespace

void ReadObject(const Cursor& object, Secret& out) {
  ReadHiddenStrings(object.At("data"), out.data);
  ReadHiddenStrings(object.At("stringData"), out.string_data);
}

}  // namespace strata::objects
