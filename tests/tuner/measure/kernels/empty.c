// For an empty output: nothing to do.
int kiln_compute_argv(void **args) {
    (void)args;
    return 0;
}
