// SPDX-License-Identifier: Apache-2.0
//
// JSON of the declarations that algorithms and programs share.
#pragma once

#include "frontend/ir/algorithm.h"
#include "frontend/ir/json_fields.h"

namespace tilewright::ir {

// Sets `extents` and `requirements`.
void write_declarations(Json& object, std::span<const ExtentDecl> extents,
                        std::span<const Expr> requirements);
// An object with `name`, `type`, `shape`.
Json tensor_json(Symbol name, ScalarType type, std::span<const Expr> shape);

// Sets `facts` where there are any.
void write_facts(Json& object, const Facts& facts);

class DeclarationReader : public FieldReader {
 public:
  using FieldReader::FieldReader;
  using FieldReader::read;
  bool read(const Json& json, ExtentDecl& out);
  // The member `facts` of an object, where it has one.
  bool read_facts(const Json& json, Facts& out);

 protected:
  // `format` and `version` are those that this reader knows.
  bool header(const Json& json, std::string_view format);
  // A member that is a list, into a vector.
  template <class Self, class T>
  static bool list(Self& self, const Json& json, std::string_view name, std::vector<T>& out) {
    const Json* found = json.find(name);
    if (!found) return self.refuse("the member `" + std::string(name) + "` is missing");
    self.path_.push_back(std::string(name));
    const bool good = read_list(self, *found, out);
    self.path_.pop_back();
    return good;
  }
};

}  // namespace tilewright::ir
