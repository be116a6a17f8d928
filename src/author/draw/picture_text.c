// Text in pictures and pictures that are read, by cairo. Our pixels are R, G, B, A bytes; cairo wants native-endian
// words, so they are converted on the way in and out. All pictures are opaque: no premultiplication to care for.
#include "base/input.h"
#include "draw/picture.h"

#include "runtime/for_author.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cairo_surface_t* ToSurface(const jnaPicture* picture)
{
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture->width, picture->height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        return surface;
    }
    unsigned char* data = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    for (int y = 0; y < picture->height; ++y) {
        const uint8_t* in = picture->pixels + 4 * (size_t)y * (size_t)picture->width;
        uint32_t* out = (uint32_t*)(void*)(data + stride * (size_t)y);
        for (int x = 0; x < picture->width; ++x) {
            out[x] = (uint32_t)in[4 * x] << 16 | (uint32_t)in[4 * x + 1] << 8 | in[4 * x + 2];
        }
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}

static void FromSurface(cairo_surface_t* surface, jnaPicture* picture)
{
    cairo_surface_flush(surface);
    const unsigned char* data = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    for (int y = 0; y < picture->height; ++y) {
        uint8_t* out = picture->pixels + 4 * (size_t)y * (size_t)picture->width;
        const uint32_t* in = (const uint32_t*)(const void*)(data + stride * (size_t)y);
        for (int x = 0; x < picture->width; ++x) {
            out[4 * x] = (uint8_t)(in[x] >> 16);
            out[4 * x + 1] = (uint8_t)(in[x] >> 8);
            out[4 * x + 2] = (uint8_t)in[x];
        }
    }
}

static void ShowText(cairo_t* cairo, double x, double y, const jnaTextStyle* style, const char* text)
{
    cairo_select_font_face(cairo, "@cairo:sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, style->size);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text, &extents);
    double shift = style->align == jna_textLeft ? 0 : style->align == jna_textCenter ? 0.5 : 1;
    uint32_t color = style->color;
    cairo_set_source_rgb(cairo, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0, (color & 255) / 255.0);
    cairo_move_to(cairo, x - shift * extents.x_advance, y);
    cairo_show_text(cairo, text);
}

// Ends a drawing: takes the pixels back, or says what cairo said.
static jnResult Finish(cairo_t* cairo, cairo_surface_t* surface, jnaPicture* picture, jnError* error)
{
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    if (status == CAIRO_STATUS_SUCCESS) {
        FromSurface(surface, picture);
    }
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS) {
        return jnFail(error, status == CAIRO_STATUS_NO_MEMORY ? jn_outOfMemory : jn_badArgument,
            "text in a picture: %s", cairo_status_to_string(status));
    }
    return jn_ok;
}

jnResult jnaPicture_Text(
    jnaPicture* picture, double x, double y, const jnaTextStyle* style, const char* text, jnError* error)
{
    cairo_surface_t* surface = ToSurface(picture);
    cairo_t* cairo = cairo_create(surface);
    ShowText(cairo, x, y, style, text);
    return Finish(cairo, surface, picture, error);
}

jnResult jnaPicture_ColorBar(jnaPicture* picture, double size, const char* low, const char* high, jnError* error)
{
    double width = 7 * size, letters = size * 1.1, below = size + size + 1.15 * letters;
    cairo_surface_t* surface = ToSurface(picture);
    cairo_t* cairo = cairo_create(surface);
    cairo_pattern_t* gradient = cairo_pattern_create_linear(size, 0, size + width, 0);
    for (int i = 0; i <= 8; ++i) {
        float rgb[3];
        double s[3];
        jnaHeatColor((float)i / 8, rgb);
        for (int k = 0; k < 3; ++k) {
            // Cairo blends in sRGB, as the map does between its knots.
            s[k] = rgb[k] <= 0.0031308f ? 12.92 * (double)rgb[k] : 1.055 * pow((double)rgb[k], 1 / 2.4) - 0.055;
        }
        cairo_pattern_add_color_stop_rgb(gradient, i / 8.0, s[0], s[1], s[2]);
    }
    cairo_set_source(cairo, gradient);
    cairo_rectangle(cairo, size, size, width, size);
    cairo_fill(cairo);
    cairo_pattern_destroy(gradient);
    ShowText(cairo, size, below, &(jnaTextStyle){letters, jna_textLeft, 0x404448}, low);
    ShowText(cairo, size + width, below, &(jnaTextStyle){letters, jna_textRight, 0x404448}, high);
    return Finish(cairo, surface, picture, error);
}

jnResult jnaReadPicture(const char* path, jnaPicture* picture, jnError* error)
{
    *picture = (jnaPicture){0};
    int descriptor = jnaOpenDescriptor(path, error);
    if (descriptor < 0) {
        return jn_ioFailed;
    }
    close(descriptor);
    cairo_surface_t* surface = cairo_image_surface_create_from_png(path);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        jnResult failed = jnFail(
            error, jn_ioFailed, "%s: cannot read: %s", path, cairo_status_to_string(cairo_surface_status(surface)));
        cairo_surface_destroy(surface);
        return failed;
    }
    picture->width = cairo_image_surface_get_width(surface);
    picture->height = cairo_image_surface_get_height(surface);
    size_t size = 4 * (size_t)picture->width * (size_t)picture->height;
    picture->pixels = malloc(size + 1);
    if (picture->pixels != NULL) {
        memset(picture->pixels, 255, size);
        FromSurface(surface, picture);
    }
    cairo_surface_destroy(surface);
    return picture->pixels != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
}
