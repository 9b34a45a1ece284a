// Instructions that a compiler may use for another CPU than the target's.
#include <gtest/gtest.h>

#include "tuner/build/object_file.h"

namespace kiln {
namespace {

TEST(ForeignInstructions, AreFoundByTheirNames) {
    const std::string head =
        "\nkernel.o:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n\n"
        "0000000000000000 <kiln_compute>:\n   0:\tpush   %rbp\n";
    const struct {
        const char *line;
        std::optional<std::string> foreign;
    } table[] = {
        {"", std::nullopt},
        {"  1c:\tvpdpbusd %zmm1,%zmm2,%zmm3\n", std::nullopt},
        {"  1c:\tvpdpbusd (%rax){1to16},%zmm2,%zmm3", std::nullopt},
        {"  1c:\tret\n", std::nullopt},
        {"  1c:\tcall   21 <extrq>\n", std::nullopt},
        {"0000000000000020 <insertq>:\n  20:\tret\n", std::nullopt},
        {"  1c:\textrq  $0x8,$0x10,%xmm0\n", "extrq"},
        {"  1c:\tinsertq $0x8,$0x10,%xmm1,%xmm0\n  20:\tret\n", "insertq"},
        {"  1c:\tmovntss %xmm0,(%rax)\n", "movntss"},
        {"  1c:\tvcvtneps2bf16x (%rax),%xmm0\n", "vcvtneps2bf16x"},
    };
    for (const auto &row : table) EXPECT_EQ(foreign_instruction(head + row.line), row.foreign) << row.line;
}

TEST(ForeignInstructions, AreLookedForWhereATargetHasFewer) {
    const struct {
        const char *target;
        bool is_checked;
    } table[] = {{"avx512vnni", true}, {"avx512", false}, {"x86-64-linux-avx512_zen4", false}, {"baseline", false}};
    for (const auto &row : table) {
        EXPECT_EQ(needs_check_of_instructions(*parse_target(row.target, 1, "")), row.is_checked) << row.target;
    }
}

}  // namespace
}  // namespace kiln
