#pragma once

#include "model/labels.h"
#include "objects/meta.h"

namespace strata::objects {

// v1 Secret. Values are never part of a message.
struct Secret {
  Metadata meta;
  Labels data;         // base64, as written
  Labels string_data;  // plain text; goes before `data`
};

}  // namespace strata::objects
