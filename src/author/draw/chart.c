// Charts drawn with cairo: a frame, round ticks, lines, a legend where the lines leave most room.
#include "draw/chart.h"

#include "base/affine.h"
#include "base/file.h"
#include "base/try.h"
#include "draw/chart_scale.h"

#include "runtime/for_author.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <string.h>

enum { LEFT = 64, RIGHT = 18, TOP = 34, BOTTOM = 46, SHEET_TITLE = 34 };
enum { MAX_TICKS = 40, LEGEND_ROW = 18, LEGEND_LINE = 26 };
#define FONT_SIZE 12.0
#define PNG_SCALE 2 // pixels of a PNG per point of the drawing

typedef struct Axes {
    double x, y, width, height; // the frame, in points
    double xRange[2], yRange[2];
} Axes;

static void SetColor(cairo_t* cr, uint32_t color)
{
    cairo_set_source_rgb(cr, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0, (color & 255) / 255.0);
}

// Text anchored at a share of its own width and height.
static void DrawText(cairo_t* cr, double x, double y, const char* text, double anchorX, double anchorY)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    cairo_move_to(
        cr, x - anchorX * extents.width - extents.x_bearing, y - extents.y_bearing - anchorY * extents.height);
    cairo_show_text(cr, text);
}

static void DrawTicks(cairo_t* cr, const Axes* axes, bool alongX)
{
    const double* range = alongX ? axes->xRange : axes->yRange;
    double step = jnaTickStep(range, alongX ? 6 : 5);
    int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    double first = ceil(range[0] / step - 1e-9);
    for (int i = 0; i < MAX_TICKS && (first + i) * step <= range[1] + 1e-9 * step; ++i) {
        double value = (first + i) * step, share = (value - range[0]) / (range[1] - range[0]);
        char text[32];
        snprintf(text, sizeof(text), "%.*f", decimals, value == 0 ? 0.0 : value);
        cairo_set_line_width(cr, 0.7);
        SetColor(cr, 0xe4e7ea);
        if (alongX) {
            double x = axes->x + share * axes->width;
            cairo_move_to(cr, x, axes->y);
            cairo_line_to(cr, x, axes->y + axes->height);
            cairo_stroke(cr);
            SetColor(cr, 0x555c63);
            DrawText(cr, x, axes->y + axes->height + 7, text, 0.5, 0);
        } else {
            double y = axes->y + (1 - share) * axes->height;
            cairo_move_to(cr, axes->x, y);
            cairo_line_to(cr, axes->x + axes->width, y);
            cairo_stroke(cr);
            SetColor(cr, 0x555c63);
            DrawText(cr, axes->x - 7, y, text, 1, 0.5);
        }
    }
}

static void DrawSeries(cairo_t* cr, const Axes* axes, const jnaSeries* series)
{
    static const double dash[2] = {5, 4};
    cairo_save(cr);
    cairo_rectangle(cr, axes->x, axes->y, axes->width, axes->height);
    cairo_clip(cr);
    SetColor(cr, series->color);
    cairo_set_line_width(cr, series->width > 0 ? series->width : 1.6);
    cairo_set_dash(cr, dash, series->dashed ? 2 : 0, 0);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    bool drawing = false;
    for (int i = 0; i < series->count; ++i) {
        double x = (series->x[i] - axes->xRange[0]) / (axes->xRange[1] - axes->xRange[0]);
        double y = (series->y[i] - axes->yRange[0]) / (axes->yRange[1] - axes->yRange[0]);
        if (!isfinite(x + y)) {
            drawing = false;
            continue;
        }
        // Far outside the frame cairo's fixed-point coordinates would wrap around.
        x = axes->x + fmin(fmax(x, -4), 5) * axes->width;
        y = axes->y + (1 - fmin(fmax(y, -4), 5)) * axes->height;
        if (drawing) {
            cairo_line_to(cr, x, y);
        } else {
            cairo_move_to(cr, x, y);
        }
        drawing = true;
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

// How many points of the data lie inside a box of the frame.
static int PointsInside(const jnaChart* chart, const Axes* axes, double x, double y, double width, double height)
{
    int inside = 0;
    for (int s = 0; s < chart->seriesCount; ++s) {
        for (int i = 0; i < chart->series[s].count; ++i) {
            double px =
                axes->x + (chart->series[s].x[i] - axes->xRange[0]) / (axes->xRange[1] - axes->xRange[0]) * axes->width;
            double py =
                axes->y +
                (1 - (chart->series[s].y[i] - axes->yRange[0]) / (axes->yRange[1] - axes->yRange[0])) * axes->height;
            inside += px > x && px < x + width && py > y && py < y + height;
        }
    }
    return inside;
}

static void DrawLegend(cairo_t* cr, const Axes* axes, const jnaChart* chart)
{
    double width = 0;
    int rows = 0;
    for (int s = 0; s < chart->seriesCount; ++s) {
        if (chart->series[s].label != NULL) {
            cairo_text_extents_t extents;
            cairo_text_extents(cr, chart->series[s].label, &extents);
            width = fmax(width, extents.x_advance);
            rows++;
        }
    }
    if (rows == 0) {
        return;
    }
    width += LEGEND_LINE + 22;
    double height = rows * LEGEND_ROW + 8, bestX = 0, bestY = 0;
    int fewest = -1;
    for (int corner = 0; corner < 4; ++corner) {
        double x = corner % 2 == 0 ? axes->x + axes->width - width - 6 : axes->x + 6;
        double y = corner < 2 ? axes->y + 6 : axes->y + axes->height - height - 6;
        int inside = PointsInside(chart, axes, x, y, width, height);
        if (fewest < 0 || inside < fewest) {
            fewest = inside;
            bestX = x;
            bestY = y;
        }
    }
    cairo_set_source_rgba(cr, 1, 1, 1, 0.85);
    cairo_rectangle(cr, bestX, bestY, width, height);
    cairo_fill(cr);
    double y = bestY + 4 + LEGEND_ROW / 2.0;
    for (int s = 0; s < chart->seriesCount; ++s) {
        const jnaSeries* series = &chart->series[s];
        if (series->label == NULL) {
            continue;
        }
        static const double dash[2] = {5, 4};
        SetColor(cr, series->color);
        cairo_set_line_width(cr, fmax(series->width, 1.6));
        cairo_set_dash(cr, dash, series->dashed ? 2 : 0, 0);
        cairo_move_to(cr, bestX + 8, y);
        cairo_line_to(cr, bestX + 8 + LEGEND_LINE, y);
        cairo_stroke(cr);
        cairo_set_dash(cr, dash, 0, 0);
        SetColor(cr, 0x2b3036);
        cairo_move_to(cr, bestX + 14 + LEGEND_LINE, y + 4);
        cairo_show_text(cr, series->label);
        y += LEGEND_ROW;
    }
}

static void DrawChart(cairo_t* cr, const jnaChart* chart, double x, double y, double width, double height)
{
    Axes axes = {.x = x + LEFT, .y = y + TOP, .width = width - LEFT - RIGHT, .height = height - TOP - BOTTOM};
    jnaChart_FindRange(chart, true, axes.xRange);
    jnaChart_FindRange(chart, false, axes.yRange);
    cairo_set_font_size(cr, FONT_SIZE);
    DrawTicks(cr, &axes, true);
    DrawTicks(cr, &axes, false);
    SetColor(cr, 0xaab1b8);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, axes.x, axes.y, axes.width, axes.height);
    cairo_stroke(cr);
    for (int s = 0; s < chart->seriesCount; ++s) {
        DrawSeries(cr, &axes, &chart->series[s]);
    }
    DrawLegend(cr, &axes, chart);
    SetColor(cr, 0x2b3036);
    if (chart->xLabel != NULL) {
        DrawText(cr, axes.x + axes.width / 2, y + height - 18, chart->xLabel, 0.5, 0);
    }
    if (chart->yLabel != NULL) {
        cairo_save(cr);
        cairo_translate(cr, x + 14, axes.y + axes.height / 2);
        cairo_rotate(cr, -JNA_PI / 2);
        DrawText(cr, 0, 0, chart->yLabel, 0.5, 0.5);
        cairo_restore(cr);
    }
    if (chart->title != NULL) {
        cairo_set_font_size(cr, FONT_SIZE + 2);
        DrawText(cr, axes.x + axes.width / 2, y + 12, chart->title, 0.5, 0);
    }
}

static cairo_status_t WriteBytes(void* closure, const unsigned char* data, unsigned int length)
{
    jnaFile* file = closure;
    return fwrite(data, 1, length, file->stream) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static void DrawSheet(cairo_t* cr, const jnaSheet* sheet, int width, int height)
{
    SetColor(cr, 0xffffff);
    cairo_rectangle(cr, 0, 0, width, height);
    cairo_fill(cr);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    int top = sheet->title != NULL ? SHEET_TITLE : 0;
    if (sheet->title != NULL) {
        SetColor(cr, 0x2b3036);
        cairo_set_font_size(cr, FONT_SIZE + 5);
        DrawText(cr, width / 2.0, 14, sheet->title, 0.5, 0);
    }
    for (int i = 0; i < sheet->chartCount; ++i) {
        int column = i % sheet->columns, row = i / sheet->columns;
        DrawChart(cr, &sheet->charts[i], column * sheet->chartWidth, top + row * sheet->chartHeight, sheet->chartWidth,
            sheet->chartHeight);
    }
}

jnResult jnaWriteSheet(const char* path, const jnaSheet* sheet, jnError* error)
{
    jnaFile file;
    JN_PASS(jnaCreateFile(path, &file, error));
    int rows = (sheet->chartCount + sheet->columns - 1) / sheet->columns;
    int width = sheet->columns * sheet->chartWidth;
    int height = rows * sheet->chartHeight + (sheet->title != NULL ? SHEET_TITLE : 0);
    size_t length = strlen(path);
    bool vector = length > 4 && strcmp(path + length - 4, ".svg") == 0;
    cairo_surface_t* surface =
        vector ? cairo_svg_surface_create_for_stream(WriteBytes, &file, width, height)
               : cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * PNG_SCALE, height * PNG_SCALE);
    cairo_t* cr = cairo_create(surface);
    if (!vector) {
        cairo_scale(cr, PNG_SCALE, PNG_SCALE);
    }
    DrawSheet(cr, sheet, width, height);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (!vector && status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_write_to_png_stream(surface, WriteBytes, &file);
    }
    cairo_surface_finish(surface);
    status = status == CAIRO_STATUS_SUCCESS ? cairo_surface_status(surface) : status;
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS) {
        jnaFile_Abandon(&file);
        return jnFail(error, jn_ioFailed, "%s: cannot draw: %s", path, cairo_status_to_string(status));
    }
    return jnaFile_Commit(&file, error);
}
