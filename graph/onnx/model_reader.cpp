#include <new>
#include <stdexcept>
#include <utility>

#include "graph/onnx/file/file_bytes.h"
#include "graph/onnx/file/foreign_file.h"
#include "graph/onnx/file/wire.h"
#include "graph/onnx/function_calls.h"
#include "graph/onnx/function_reader.h"
#include "graph/onnx/graph_reader.h"
#include "graph/onnx/model.h"
#include "graph/onnx/name_checks.h"
#include "graph/onnx/opset_reader.h"
#include "text/quoted_text.h"

namespace kiln::graph::onnx {

namespace {

struct ModelFields {
    Model model;
    std::vector<std::string_view> graphs,
        functions;  // read last: what is wrong within one says more when the rest is known to be a model
};

Status read_fields(std::string_view message, ModelFields &fields, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case varint(1):
                fields.model.ir_version = field.get_int64();
                return {};
            case bytes(2):
                fields.model.producer = take_text(field);
                return {};
            case bytes(7):
                fields.graphs.push_back(take_bytes(field));
                return count_entry(reading);
            case bytes(8): {
                const Status counted = count_entry(reading);
                return counted ? read_opset(take_bytes(field), &fields.model.opsets) : counted;
            }
            case bytes(25): {
                fields.functions.push_back(take_bytes(field));
                return count_entry(reading);
            }
            default:
                field.skip();
                return {};
        }
    });
}

Status check_version(const Model &model) {
    const std::string version = std::to_string(model.ir_version);
    const std::string read =
        "kiln reads " + std::to_string(oldest_ir_version) + " to " + std::to_string(newest_ir_version);
    if (model.ir_version < oldest_ir_version) {
        return unsupported("IR version " + version + " is too old, " + read +
                           ": load and save the model with the Python package "
                           "onnx, after onnx.version_converter.convert_version");
    }
    if (model.ir_version > newest_ir_version) {
        return unsupported("IR version " + version + " is newer than this kiln, which reads up to " +
                           std::to_string(newest_ir_version) + ": save the model for an older version");
    }
    return {};
}

Result<Model> read_graphs(ModelFields fields, Reading &reading) {
    if (Status status = check_version(fields.model); !status) {
        return status.error();
    }
    for (const std::string_view graph : fields.graphs) {
        if (Status status = read_graph(graph, fields.model, reading); !status) {
            return status.error();
        }
    }
    if (fields.model.outputs.empty()) {
        return bad_input("its graph has no outputs");
    }
    if (!fields.functions.empty()) {
        Functions functions;
        for (const std::string_view function : fields.functions) {
            if (Status status = read_function(function, &functions, reading); !status) {
                return status.error();
            }
        }
        if (Status status = write_out_calls(functions, &fields.model); !status) {
            return status.error();
        }
    }
    const Status status = order_nodes(fields.model, Surroundings::none);
    return status ? Result<Model>(std::move(fields.model)) : status.error();
}

Result<Model> read(std::string_view message, std::span<const std::byte> bytes, Reading &reading) {
    ModelFields fields;
    const Status status = read_fields(message, fields, reading);
    const bool is_model = fields.model.ir_version > 0 && (!fields.model.opsets.empty() || !fields.graphs.empty());
    if (!status && is_model) {
        return status.error();
    }
    if (!status || !is_model || fields.graphs.empty()) {
        const std::string guess = foreign_file(bytes);
        const std::string reason = status ? "it has no IR version or no graph" : "it " + status.error().message;
        return bad_input("not an ONNX model: " + (guess.empty() ? reason : guess));
    }
    return read_graphs(std::move(fields), reading);
}

}  // namespace

Result<Model> parse_model(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                          const std::filesystem::path &folder) {
    Reading reading{.owner = std::move(owner), .external = ExternalFiles(folder)};
    try {
        return read({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, bytes, reading);
    } catch (const std::bad_alloc &) {
        return environment_error("there is not enough memory to read it");
    } catch (const std::length_error &) {
        return environment_error("there is not enough memory to read it");
    }
}

Result<Model> read_model(const std::filesystem::path &file) {
    const Result<FileBytes> mapped = map_file(file, FinalLink::follow);
    if (!mapped) {
        return within(quoted_line(file.string()), mapped.error());
    }
    const std::filesystem::path parent = file.parent_path();
    Result<Model> model = parse_model(mapped->owner, mapped->bytes, parent.empty() ? "." : parent);
    return model ? std::move(model) : within(quoted_line(file.string()), model.error());
}

}  // namespace kiln::graph::onnx
