/* The header is C: this file compiles as C and takes no part in a test. */
#include "runtime/tegula.h"

tegula_status (*const tegula_header_is_c)(int *) = tegula_device_count;
