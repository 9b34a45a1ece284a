#include "tuner/build/core_program.h"

#include <fstream>

namespace kiln {
namespace {

// Code, constants and data apart, so that code cannot be written to; from the simulator's lowest address on.
constexpr const char *linker_script = R"(
PHDRS { text PT_LOAD FLAGS(5); rodata PT_LOAD FLAGS(4); data PT_LOAD FLAGS(6); }
SECTIONS {
    . = 0x10000;
    .text : ALIGN(64) { *(.text .text.*) } :text
    .rodata : ALIGN(64) { *(.rodata .rodata.* .srodata .srodata.*) } :rodata
    .data : ALIGN(64) { *(.data .data.* .sdata .sdata.*) } :data
    .bss : ALIGN(64) { *(.bss .bss.* .sbss .sbss.* COMMON) } :data
}
)";

}  // namespace

const char *const core_memory_functions = R"(
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    char *t = to;
    for (const char *f = from; count > 0; count--) *t++ = *f++;
    return to;
}
void *memset(void *to, int value, size_t count) {
    for (char *t = to; count > 0; count--) *t++ = (char)value;
    return to;
}
)";

Status write_core_files(const std::string &folder) {
    const std::string path = folder + "/core.ld";
    if ((std::ofstream(path, std::ios::binary) << linker_script).flush()) return {};
    return environment_error(path + ": cannot be written in the work folder ($TMPDIR); is the disk full?");
}

std::vector<std::string> link_command(const std::string &linker, const std::string &folder,
                                      const CoreProgram &program) {
    std::vector<std::string> command = {linker, "-m",          "elf32lriscv", "-T",           folder + "/core.ld",
                                        "-e",   program.entry, "-o",          program.program};
    command.insert(command.end(), program.objects.begin(), program.objects.end());
    command.push_back(folder + "/memory.o");
    return command;
}

}  // namespace kiln
