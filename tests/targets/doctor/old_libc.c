// Stands for the C library of an old system: it has none of the newer versions of symbols.
int old_function(void) { return 0; }
