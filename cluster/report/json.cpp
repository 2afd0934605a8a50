// JSON text of a Protobuf message: its own mapping, our field names, every field printed.
#include "cluster/report/json.hpp"

#include <google/protobuf/util/json_util.h>

#include "core/base/error.hpp"

namespace coppice {

std::string json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string out;
  if (const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
      !status.ok()) {
    fail(Errc::internal, "result could not be printed as JSON");
  }
  return out;
}

}  // namespace coppice
