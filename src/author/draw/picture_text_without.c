// In the place of picture_text.c where cairo is left out: pictures have no words.
#include "draw/picture.h"

#include "runtime/for_author.h"

jnResult jnaPicture_Text(
    jnaPicture* picture, double x, double y, const jnaTextStyle* style, const char* text, jnError* error)
{
    (void)picture;
    (void)x;
    (void)y;
    (void)style;
    (void)text;
    (void)error;
    return jn_ok;
}

jnResult jnaPicture_ColorBar(jnaPicture* picture, double size, const char* low, const char* high, jnError* error)
{
    (void)picture;
    (void)size;
    (void)low;
    (void)high;
    (void)error;
    return jn_ok;
}

jnResult jnaReadPicture(const char* path, jnaPicture* picture, jnError* error)
{
    *picture = (jnaPicture){0};
    return jnFail(error, jn_ioFailed, "%s: this build of jounce reads no pictures (cairo is left out)", path);
}
