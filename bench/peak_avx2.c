// The arithmetic peak with AVX2.
#define JNB_PEAK jnbPeakProductsAvx2
#include "peak_body.h"
