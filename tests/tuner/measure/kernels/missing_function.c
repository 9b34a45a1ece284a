int something_else(void **args) {
    (void)args;
    return 0;
}
