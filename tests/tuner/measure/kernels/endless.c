int kiln_compute_argv(void **args) {
    (void)args;
    for (volatile int i = 0;; i++) {
    }
}
