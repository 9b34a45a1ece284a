# The first instructions: a stack, empty variables, then main(). Its answer ends the program, as on Linux; on a board, the loop
# behind it does.
    .section .text.start
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_end
    la t0, __bss_begin
    la t1, __bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    li a7, 93
    ecall
3:  j 3b
