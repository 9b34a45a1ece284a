int kiln_compute_argv(void **args) {
    (void)args;
    __builtin_trap();
}
