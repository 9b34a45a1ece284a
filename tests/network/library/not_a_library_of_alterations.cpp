// A shared library without a table of alterations.
extern "C" int kiln_nothing() { return 0; }
