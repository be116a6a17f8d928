// Whatever the bytes of a .npy file: an array whose every number can be read, or an error.
#include "base/bounds.h"
#include "memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaArray array;
    jnError error;
    const char* path = PutFile("input.npy", data, size);
    if (jnaOpenArray(path, &array, &error) == jn_ok) {
        char text[96];
        volatile double sum = 0;
        jnaArray_Describe(&array, text, sizeof(text));
        (void)jnaArray_CheckPositions(&array, path, &error);
        (void)jnaArray_CheckNumbers(&array, path, &error);
        for (size_t i = 0; i < array.count && array.scalar <= jna_float64; ++i) {
            sum = sum + jnaArray_Get(&array, i);
        }
        jnaCloseArray(&array);
    }
    return 0;
}
