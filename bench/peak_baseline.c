// The arithmetic peak in plain C.
#define JNB_PEAK jnbPeakProductsBaseline
#include "peak_body.h"
