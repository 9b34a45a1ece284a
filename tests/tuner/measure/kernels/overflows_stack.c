static int deeper(volatile char *above) {
    volatile char frame[4096];
    frame[0] = above[0];
    return deeper(frame) + frame[0];
}

int kiln_compute_argv(void **args) {
    (void)args;
    volatile char bottom = 0;
    return deeper(&bottom);
}
