/* A plugin of qemu's (version 1 of its interface, as in QEMU 4.2 to 8.2): instructions between the marks of kiln-simulate, `slti zero,
 * zero, 1` and `2`, to the file of the argument `to`. Debian has no header for it, so what is used of it is declared here.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
typedef void (*at_translation)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*at_execution)(unsigned, void *);
typedef void (*at_end)(qemu_plugin_id_t, void *);
enum { no_registers = 0, add_u64 = 0 };
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, at_translation);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int, void *, uint64_t);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, at_execution, int, void *);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, at_end, void *);
#define VISIBLE __attribute__((visibility("default")))
VISIBLE int qemu_plugin_version = 1;

static const uint32_t begin_mark = 0x00102013, end_mark = 0x00202013;
static uint64_t executed, begin, counted;
static int marks;
static char to[4096];

static void on_begin(unsigned cpu, void *data) {
    (void)cpu, (void)data;
    begin = executed;
}

static void on_end(unsigned cpu, void *data) {
    (void)cpu, (void)data;
    counted = executed - begin;
    marks++;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint32_t word = 0;
        if (qemu_plugin_insn_size(instruction) == sizeof word)
            memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
        if (word == begin_mark) qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_begin, no_registers, NULL);
        if (word == end_mark) qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end, no_registers, NULL);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, add_u64, &executed, 1);
    }
}

static void on_exit(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    FILE *file = fopen(to, "w");
    if (!file) return;
    fprintf(file, "%d %llu\n", marks, (unsigned long long)counted);
    fclose(file);
}

VISIBLE int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **arguments) {
    (void)info;
    if (count != 1 || strncmp(arguments[0], "to=", 3) != 0 || strlen(arguments[0]) > sizeof to) return -1;
    strcpy(to, arguments[0] + 3);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, NULL);
    return 0;
}
