// JSON text of a Protobuf message: its own mapping, our field names, every field printed.
#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace coppice {

[[nodiscard]] std::string json(const google::protobuf::Message& message);

}  // namespace coppice
