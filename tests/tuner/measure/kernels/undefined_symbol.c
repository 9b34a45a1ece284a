extern int halide_function_that_is_not_there(void);

int kiln_compute_argv(void **args) {
    (void)args;
    return halide_function_that_is_not_there();
}
