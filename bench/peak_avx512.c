// The arithmetic peak with AVX-512.
#define JNB_PEAK jnbPeakProductsAvx512
#include "peak_body.h"
