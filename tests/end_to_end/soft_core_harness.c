/* Calls every layer of the package `small` with the operands of operands.h, and writes what was packed and the results. On the
 * machine that compiles it, too: the sources are plain C. */
#include <small.h>

#include "operands.h"

#ifdef __riscv
#include "console.h"
#else
#include <stdio.h>
static void write_bytes(const void *bytes, size_t count) { fwrite(bytes, 1, count, stdout); }
#endif

static int32_t packed[MOST_PACKED_WORDS];
static int64_t workspace[SMALL_MOST_WORKSPACE_BYTES / 8 + 1], output[MOST_OUTPUT_BYTES / 8 + 1];

int main(void) {
    for (int i = 0; i < SMALL_KERNELS; i++) {
        const small_kernel *kernel = &small_kernels[i];
        kernel->pack(&constants[i], packed, workspace);
        /* What the workspace holds means nothing. */
        for (size_t at = 0; at < sizeof workspace; at++) ((unsigned char *)workspace)[at] = 0xa5;
        kernel->run(inputs[i], packed, output, workspace);
        write_bytes(packed, 4 * (size_t)kernel->packed_words);
        write_bytes(output, (size_t)kernel->output_bytes);
    }
    return 0;
}
