#include "graph/onnx/opset_reader.h"

#include "graph/onnx/file/wire.h"

namespace kiln::graph::onnx {

Status read_opset(std::string_view message, std::map<std::string, int64_t> *opsets) {
    std::string domain;
    int64_t version = 0;
    const Status status = each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return take_name(field, domain);
            case varint(2):
                version = field.get_int64();
                break;
            default:
                field.skip();
        }
        return {};
    });
    if (!status) {
        return within("an opset", status.error());
    }
    const auto [known, added] = opsets->emplace(domain == "ai.onnx" ? "" : domain, version);
    if (!added && known->second != version) {
        return bad_input("imports opsets " + std::to_string(known->second) + " and " + std::to_string(version) +
                         " of the domain " + shown(domain));
    }
    return {};
}

}  // namespace kiln::graph::onnx
