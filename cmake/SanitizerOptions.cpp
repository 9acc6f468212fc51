// What the sanitizers are told in every program of the asan preset; ASAN_OPTIONS in the environment adds to it.
//
// LLVM's allocators poison memory in code that is inlined here and unpoison it in libLLVM, which is built without sanitizers.
// MLIR's pass statistics load a flag that nothing has set; memory of zeros keeps that from being a bool of value 190.

extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0:malloc_fill_byte=0"; }
extern "C" const char *__ubsan_default_options() { return "print_stacktrace=1"; }
