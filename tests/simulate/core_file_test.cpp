#include "simulate/core_file.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(CoreFile, LeavesOutWhatTheDefaultHas) {
    const auto core = parse_core(R"({"format": "core/1"})", "c.json");
    ASSERT_TRUE(core) << core.error().message;
    EXPECT_EQ(*core, CoreDescription{});
    EXPECT_EQ(key(*core), "rv32im-vexriscv/icache:4096-32-18/dcache:4096-32-22/latency:3-3-34-2/jump:1-4-5/store:3-2");
}

TEST(CoreFile, ReadsEveryField) {
    const auto core = parse_core(
        R"({"format": "core/1", "name": "other_1.2", "clock_hz": 50000000,
            "instruction_cache": {"bytes": 8192, "line_bytes": 16, "refill_cycles": 1},
            "data_cache": {"bytes": 2048, "line_bytes": 64, "refill_cycles": 2},
            "load_cycles": 4, "multiply_cycles": 5, "shift_cycles": 11, "divide_cycles": 6, "jump_cycles": 7, "indirect_jump_cycles": 8,
            "mispredicted_cycles": 9, "store_cycles": 10, "pending_stores": 0})",
        "c.json");
    ASSERT_TRUE(core) << core.error().message;
    const CoreDescription expected{"other_1.2", 50'000'000, {8192, 16, 1}, {2048, 64, 2}, 4, 5, 11, 6, 7, 8, 9, 10, 0};
    EXPECT_EQ(*core, expected);
    EXPECT_EQ(key(*core), "rv32im-other_1.2/icache:8192-16-1/dcache:2048-64-2/latency:4-5-6-11/jump:7-8-9/store:10-0");
}

TEST(CoreFile, NamesFileAndField) {
    const struct {
        const char *text, *message;
    } rows[] = {
        {"[]", "c.json: needs an object; got []"},
        {"{}", "c.json: format: is missing"},
        {R"({"format": "core/2"})", R"(c.json: format: needs "core/1"; got "core/2")"},
        {R"({"format": "core/1", "cache": 1})", "c.json: cache: unknown field"},
        {R"({"format": "core/1", "name": "a b"})",
         "c.json: name: needs 1 to 64 letters, digits, `_` or `.`; got \"a b\""},
        {R"({"format": "core/1", "clock_hz": 0})", "c.json: clock_hz: needs an integer from 1 to 100000000000; got 0"},
        {R"({"format": "core/1", "load_cycles": 0})", "c.json: load_cycles: needs an integer from 1 to 10000; got 0"},
        {R"({"format": "core/1", "divide_cycles": -1})",
         "c.json: divide_cycles: needs an integer from 0 to 10000; got -1"},
        {R"({"format": "core/1", "store_cycles": 1.5})",
         "c.json: store_cycles: needs an integer from 0 to 10000; got 1.5"},
        {R"({"format": "core/1", "pending_stores": "2"})",
         "c.json: pending_stores: needs an integer from 0 to 64; got \"2\""},
        {R"({"format": "core/1", "data_cache": 4096})", "c.json: data_cache: needs an object; got 4096"},
        {R"({"format": "core/1", "data_cache": {"bytes": 3000}})",
         "c.json: data_cache: bytes: needs a power of two; got 3000"},
        {R"({"format": "core/1", "data_cache": {"bytes": 0}})",
         "c.json: data_cache: bytes: needs an integer from 16 to 16777216; got 0"},
        {R"({"format": "core/1", "instruction_cache": {"line_bytes": 24}})",
         "c.json: instruction_cache: line_bytes: needs a power of two; got 24"},
        {R"({"format": "core/1", "instruction_cache": {"bytes": 16, "line_bytes": 32}})",
         "c.json: instruction_cache: line_bytes: needs at most the 16 bytes of the cache; got 32"},
        {R"({"format": "core/1", "data_cache": {"ways": 2}})", "c.json: data_cache: ways: unknown field"},
        {R"({"format": "core/1", "load_cycles": 1, "load_cycles": 2})",
         "c.json: load_cycles: is there twice; leave one"},
        {R"({"format": "core/1", "data_cache": {"bytes": 64, "line_bytes": 4, "bytes": 32}})",
         "c.json: data_cache: bytes: is there twice; leave one"},
    };
    for (const auto &row : rows) {
        const auto core = parse_core(row.text, "c.json");
        ASSERT_FALSE(core) << row.text;
        EXPECT_EQ(core.error().message.substr(0, std::string(row.message).size()), row.message);
    }
    for (const char *text : {"", "{", "{\"format\": ", "[[[[[[[[[[[[[[[["}) {
        const auto core = parse_core(text, "c.json");
        ASSERT_FALSE(core) << text;
        EXPECT_EQ(core.error().message.substr(0, 8), "c.json: ");
    }
    const auto missing = read_core_file("/nowhere/c.json");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "/nowhere/c.json: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace kiln
