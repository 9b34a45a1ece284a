#include "simulate/core_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>

#include "json/file_text.h"
#include "json/json_fields.h"
#include "json/repeated_field.h"

namespace kiln {
namespace {

struct Range {
    int64_t smallest, largest;
};
constexpr Range cache_bytes{16, 1 << 24}, line_bytes{4, 4096}, latency{1, 10'000}, lost{0, 10'000},
    clock{1, 100'000'000'000}, pending{0, 64};

void read_number(JsonFields &fields, std::string_view name, const Range &range, int64_t *number) {
    if (!fields.has(name)) return;
    fields.read(name, [&](const Json &value) { return read_integer(value, range.smallest, range.largest, number); });
}

void read_size(JsonFields &fields, std::string_view name, const Range &range, int64_t *bytes) {
    read_number(fields, name, range, bytes);
    if (fields.ok() && !std::has_single_bit(static_cast<uint64_t>(*bytes))) {
        fields.fail(name, fmt::format("needs a power of two; got {}", *bytes));
    }
}

void read_cache(JsonFields &core, std::string_view name, CacheDescription *cache) {
    if (!core.has(name)) return;
    JsonFields fields = core.object(name);
    fields.allow_only({"bytes", "line_bytes", "refill_cycles"});
    read_size(fields, "bytes", cache_bytes, &cache->bytes);
    read_size(fields, "line_bytes", line_bytes, &cache->line_bytes);
    read_number(fields, "refill_cycles", lost, &cache->refill_cycles);
    if (fields.ok() && cache->line_bytes > cache->bytes) {
        fields.fail("line_bytes",
                    fmt::format("needs at most the {} bytes of the cache; got {}", cache->bytes, cache->line_bytes));
    }
}

FieldProblem read_format(const Json &value) {
    if (value == "core/1") return {};
    return expected(R"("core/1")", value);
}

// It becomes part of keys.
FieldProblem read_name(const Json &value, std::string *name) {
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
    if (value.is_string()) {
        const auto &text = value.get_ref<const std::string &>();
        if (!text.empty() && text.size() <= 64 && std::ranges::all_of(text, is_plain)) {
            *name = text;
            return {};
        }
    }
    return expected("1 to 64 letters, digits, `_` or `.`", value);
}

}  // namespace

Result<CoreDescription> parse_core(const std::string &text, const std::string &path) {
    constexpr int deepest_level = 8;
    RepeatedField repeated;
    const Result<Json> document = parse_json(text, deepest_level, std::ref(repeated));
    if (!document) return bad_input(path + ": " + document.error().message);
    if (repeated.found()) return bad_input(fmt::format("{}: {}: is there twice; leave one", path, repeated.path()));
    CoreDescription core;
    FieldProblem problem;
    JsonFields fields(*document, path + ": ", &problem);
    if (fields.ok()) fields.read("format", read_format);
    if (fields.ok()) {
        fields.allow_only({"format", "name", "clock_hz", "instruction_cache", "data_cache", "load_cycles",
                           "multiply_cycles", "shift_cycles", "divide_cycles", "jump_cycles", "indirect_jump_cycles",
                           "mispredicted_cycles", "store_cycles", "pending_stores"});
        if (fields.has("name")) fields.read("name", [&](const Json &value) { return read_name(value, &core.name); });
        read_number(fields, "clock_hz", clock, &core.clock_hz);
        read_cache(fields, "instruction_cache", &core.instructions);
        read_cache(fields, "data_cache", &core.data);
        read_number(fields, "load_cycles", latency, &core.load_cycles);
        read_number(fields, "multiply_cycles", latency, &core.multiply_cycles);
        read_number(fields, "shift_cycles", latency, &core.shift_cycles);
        read_number(fields, "divide_cycles", lost, &core.divide_cycles);
        read_number(fields, "jump_cycles", lost, &core.jump_cycles);
        read_number(fields, "indirect_jump_cycles", lost, &core.indirect_jump_cycles);
        read_number(fields, "mispredicted_cycles", lost, &core.mispredicted_cycles);
        read_number(fields, "store_cycles", lost, &core.store_cycles);
        read_number(fields, "pending_stores", pending, &core.pending_stores);
    }
    if (problem) return bad_input(*problem);
    return core;
}

Result<CoreDescription> read_core_file(const std::string &path) {
    constexpr int64_t most_bytes = 1 << 20;
    const auto text = read_file_text(path, most_bytes, FileKind::any_stream);
    if (!text) return text.error();
    return parse_core(*text, path);
}

}  // namespace kiln
