int kiln_compute_argv(void **args) {
    (void)args;
    return -12;
}
