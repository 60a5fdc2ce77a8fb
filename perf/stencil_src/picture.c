/*
 * The picture of a state, drawn with cairo when the build has it.
 */
#include "picture.h"

#include <stdio.h>

#ifdef STENCIL_CAIRO

#include <cairo.h>
#include <stdlib.h>

#define LABEL_SIZE 14.0 /* of the numbers on axes */

/* The plot's box and the whole picture, in pixels. */
enum {
    LEFT = 84,
    TOP = 74,
    BOTTOM = 70,
    SIDE = 640,
    BAR_GAP = 22,
    BAR_WIDTH = 20,
    TICK = 11,
    NAME_GAP = 26,
    EDGE = 18
};

struct colour {
    double r, g, b;
};

/* sRGB of linear light, clipped to what a screen can show. */
static double display(double x)
{
    x = x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
}

/*
 * Colour of t in 0 … 1: a path through the OKLCh space whose lightness grows evenly, from night blue over
 * violet and coral to pale yellow, so that equal steps of density look equally large, also in grey.
 */
static struct colour colour_of(double t)
{
    double light = 0.16 + 0.80 * t;
    double chroma = 0.055 + 0.52 * t * (1.0 - t) * (0.62 + 0.38 * t) + 0.02 * t;
    double hue = (275.0 + 190.0 * pow(t, 0.9)) * 3.14159265358979 / 180.0;
    double a = chroma * cos(hue), b = chroma * sin(hue);
    double l = light + 0.3963377774 * a + 0.2158037573 * b;
    double m = light - 0.1055613458 * a - 0.0638541728 * b;
    double s = light - 0.0894841775 * a - 1.2914855480 * b;

    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (struct colour){display(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                           display(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                           display(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

static uint32_t pixel_of(double t)
{
    struct colour c = colour_of(t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t);

    return 0xff000000u | (uint32_t)(255.0 * c.r + 0.5) << 16 | (uint32_t)(255.0 * c.g + 0.5) << 8 |
           (uint32_t)(255.0 * c.b + 0.5);
}

/* A drawing and its scales: the plot's size, the data's ranges, the width of the colour bar's numbers. */
struct plot {
    cairo_t *cr;
    cairo_surface_t *surface;
    double width, height;
    double x0, x1, y0, y1;
    double labels;
};

static void text_at(cairo_t *cr, double x, double y, double align, const char *text)
{
    cairo_text_extents_t e;

    cairo_text_extents(cr, text, &e);
    cairo_move_to(cr, x - align * e.x_advance, y);
    cairo_show_text(cr, text);
}

static void font(cairo_t *cr, double size, cairo_font_weight_t weight)
{
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, weight);
    cairo_set_font_size(cr, size);
}

/* A step of 1, 2 or 5 times a power of ten that gives about `count` ticks. */
static double tick_step(double range, int count)
{
    double raw = range / count, power = pow(10.0, floor(log10(raw)));
    double lead = raw / power;

    return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

static void tick_label(char *text, size_t size, double v, double step)
{
    int digits = step < 1.0 ? (int)ceil(-log10(step) - 1e-9) : 0;

    snprintf(text, size, "%.*f", digits, fabs(v) < 1e-9 * step ? 0.0 : v);
}

static void axis_x(const struct plot *p)
{
    double step = tick_step(p->x1 - p->x0, 5);
    char text[32];

    for (double v = ceil(p->x0 / step - 1e-9) * step; v <= p->x1 + 1e-9 * step; v += step) {
        double x = LEFT + p->width * (v - p->x0) / (p->x1 - p->x0);

        cairo_move_to(p->cr, x, TOP + p->height);
        cairo_rel_line_to(p->cr, 0.0, 6.0);
        cairo_stroke(p->cr);
        tick_label(text, sizeof text, v, step);
        text_at(p->cr, x, TOP + p->height + 23.0, 0.5, text);
    }
    text_at(p->cr, LEFT + p->width / 2.0, TOP + p->height + 50.0, 0.5, "x");
}

/* Ticks along y at x position `at`, outwards to the left (side -1) or right (side 1). */
static void axis_y(const struct plot *p, double at, int side)
{
    double step = tick_step(p->y1 - p->y0, 5);
    char text[32];

    for (double v = ceil(p->y0 / step - 1e-9) * step; v <= p->y1 + 1e-9 * step; v += step) {
        double y = TOP + p->height * (p->y1 - v) / (p->y1 - p->y0);

        cairo_move_to(p->cr, at, y);
        cairo_rel_line_to(p->cr, 6.0 * side, 0.0);
        cairo_stroke(p->cr);
        tick_label(text, sizeof text, v, step);
        text_at(p->cr, at + TICK * side, y + 5.0, side < 0 ? 1.0 : 0.0, text);
    }
}

/* The width of the widest number that axis_y writes from v0 to v1. */
static double labels_width(double v0, double v1)
{
    double step = tick_step(v1 - v0, 5), widest = 0.0;
    cairo_surface_t *none = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t *cr = cairo_create(none);
    cairo_text_extents_t e;
    char text[32];

    font(cr, LABEL_SIZE, CAIRO_FONT_WEIGHT_NORMAL);
    for (double v = ceil(v0 / step - 1e-9) * step; v <= v1 + 1e-9 * step; v += step) {
        tick_label(text, sizeof text, v, step);
        cairo_text_extents(cr, text, &e);
        widest = fmax(widest, e.x_advance);
    }
    cairo_destroy(cr);
    cairo_surface_destroy(none);
    return widest;
}

/* The density at the upper end of the colours; what differs by roundings only is one colour. */
static double density_top(const struct figures *g)
{
    return g->rho_max - g->rho_min > 1e-12 * g->rho_max ? g->rho_max : g->rho_min + 1.0;
}

static void frame(const struct plot *p, double x, double width)
{
    cairo_set_source_rgb(p->cr, 0.15, 0.15, 0.18);
    cairo_set_line_width(p->cr, 1.0);
    cairo_rectangle(p->cr, x - 0.5, TOP - 0.5, width + 1.0, p->height + 1.0);
    cairo_stroke(p->cr);
}

static void title(const struct plot *p, const struct field *f, const struct problem *problem)
{
    char text[200], zones[DOMAIN_TEXT];

    cairo_set_source_rgb(p->cr, 0.1, 0.1, 0.12);
    font(p->cr, 21.0, CAIRO_FONT_WEIGHT_BOLD);
    text_at(p->cr, LEFT, TOP - 36.0, 0.0, problem->title);
    font(p->cr, 14.0, CAIRO_FONT_WEIGHT_NORMAL);
    domain_text(zones, f->domain.n, " × ");
    snprintf(text, sizeof text, "density at time %.4g%s, %s zones", f->time,
             f->domain.dims == 3 ? " in the middle layer" : "", zones);
    cairo_set_source_rgb(p->cr, 0.35, 0.35, 0.4);
    text_at(p->cr, LEFT, TOP - 14.0, 0.0, text);
}

static void axis_name_y(const struct plot *p, double x, const char *name)
{
    cairo_save(p->cr);
    cairo_translate(p->cr, x, TOP + p->height / 2.0);
    cairo_rotate(p->cr, -3.14159265358979 / 2.0);
    text_at(p->cr, 0.0, 0.0, 0.5, name);
    cairo_restore(p->cr);
}

static void image_draw(const struct plot *p, cairo_surface_t *image, double x, double width,
                       cairo_filter_t filter)
{
    cairo_save(p->cr);
    cairo_rectangle(p->cr, x, TOP, width, p->height);
    cairo_clip(p->cr);
    cairo_translate(p->cr, x, TOP);
    cairo_scale(p->cr, width / cairo_image_surface_get_width(image),
                p->height / cairo_image_surface_get_height(image));
    cairo_set_source_surface(p->cr, image, 0.0, 0.0);
    cairo_pattern_set_filter(cairo_get_source(p->cr), filter);
    cairo_pattern_set_extend(cairo_get_source(p->cr), CAIRO_EXTEND_PAD);
    cairo_paint(p->cr);
    cairo_restore(p->cr);
    cairo_surface_destroy(image);
}

/* The density of the middle layer. */
static const double *layer_of(const struct field *f)
{
    return f->u + (long)(f->domain.n[Z] / 2) * f->domain.n[Y] * f->domain.n[X];
}

/* Rows of an image go down, y goes up. */
static cairo_surface_t *density_image(const struct field *f, const struct figures *g)
{
    int nx = f->domain.n[X], ny = f->domain.n[Y];
    const double *layer = layer_of(f);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, nx, ny);
    unsigned char *data = cairo_image_surface_get_data(image);
    double range = density_top(g) - g->rho_min;

    for (int j = 0; data && j < ny; j++) {
        uint32_t *row =
            (uint32_t *)(void *)(data + (long)(ny - 1 - j) * cairo_image_surface_get_stride(image));

        for (int i = 0; i < nx; i++)
            row[i] = pixel_of((layer[(long)j * nx + i] - g->rho_min) / range);
    }
    cairo_surface_mark_dirty(image);
    return image;
}

static cairo_surface_t *bar_image(void)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 256);
    unsigned char *data = cairo_image_surface_get_data(image);

    for (int k = 0; data && k < 256; k++)
        *(uint32_t *)(void *)(data + (long)k * cairo_image_surface_get_stride(image)) =
            pixel_of((255 - k) / 255.0);
    cairo_surface_mark_dirty(image);
    return image;
}

static void density_draw(struct plot *p, const struct field *f, const struct figures *g)
{
    double bar = LEFT + p->width + BAR_GAP;

    image_draw(p, density_image(f, g), LEFT, p->width, CAIRO_FILTER_BILINEAR);
    image_draw(p, bar_image(), bar, BAR_WIDTH, CAIRO_FILTER_BILINEAR);
    frame(p, LEFT, p->width);
    frame(p, bar, BAR_WIDTH);
    font(p->cr, LABEL_SIZE, CAIRO_FONT_WEIGHT_NORMAL);
    axis_x(p);
    axis_y(p, LEFT, -1);
    axis_name_y(p, LEFT - 56.0, "y");
    p->y0 = g->rho_min;
    p->y1 = density_top(g);
    axis_y(p, bar + BAR_WIDTH, 1);
    axis_name_y(p, bar + BAR_WIDTH + TICK + p->labels + NAME_GAP, "density");
}

/* The density along x in the middle row. */
static void profile_draw(struct plot *p, const struct field *f, const struct figures *g)
{
    int nx = f->domain.n[X];
    const double *rho = layer_of(f) + (long)(f->domain.n[Y] / 2) * nx;
    struct colour c = colour_of(0.42);

    p->y0 = 0.0;
    p->y1 = 1.05 * g->rho_max;
    cairo_set_source_rgb(p->cr, c.r, c.g, c.b);
    cairo_set_line_width(p->cr, 2.0);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(p->cr);
    for (int i = 0; i < nx; i++)
        cairo_line_to(p->cr, LEFT + p->width * (i + 0.5) / nx, TOP + p->height * (1.0 - rho[i] / p->y1));
    cairo_stroke(p->cr);
    frame(p, LEFT, p->width);
    font(p->cr, LABEL_SIZE, CAIRO_FONT_WEIGHT_NORMAL);
    axis_x(p);
    axis_y(p, LEFT, -1);
    axis_name_y(p, LEFT - 56.0, "density");
}

static struct plot plot_make(const struct field *f, const struct problem *p, const struct figures *g,
                             int profile)
{
    double lx = f->domain.n[X] * f->domain.width[X], ly = f->domain.n[Y] * f->domain.width[Y];
    double scale = SIDE / (lx > ly ? lx : ly);
    struct plot plot = {.width = profile ? SIDE : fmax(lx * scale, 40.0),
                        .height = profile ? SIDE * 0.6 : fmax(ly * scale, 40.0),
                        .x0 = p->lower[X],
                        .x1 = p->lower[X] + lx,
                        .y0 = p->lower[Y],
                        .y1 = p->lower[Y] + ly,
                        .labels = profile ? 0.0 : labels_width(g->rho_min, density_top(g))};
    int right = profile ? 40 : BAR_GAP + BAR_WIDTH + TICK + (int)plot.labels + NAME_GAP + EDGE;

    plot.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)plot.width + LEFT + right,
                                              (int)plot.height + TOP + BOTTOM);
    plot.cr = cairo_create(plot.surface);
    cairo_set_source_rgb(plot.cr, 1.0, 1.0, 1.0);
    cairo_paint(plot.cr);
    return plot;
}

int picture_possible(void)
{
    return 1;
}

int picture_write(const char *file, const struct field *f, const struct problem *p, const struct figures *g)
{
    int profile = p->size[Y] <= 0.0;
    struct plot plot = plot_make(f, p, g, profile);

    title(&plot, f, p);
    if (profile)
        profile_draw(&plot, f, g);
    else
        density_draw(&plot, f, g);
    cairo_status_t status = cairo_surface_write_to_png(plot.surface, file);
    cairo_destroy(plot.cr);
    cairo_surface_destroy(plot.surface);
    if (status == CAIRO_STATUS_SUCCESS)
        return 0;
    fprintf(stderr, "stencil: --picture %s: %s\n", file, cairo_status_to_string(status));
    return -1;
}

#else

int picture_possible(void)
{
    return 0;
}

int picture_write(const char *file, const struct field *f, const struct problem *p, const struct figures *g)
{
    (void)f;
    (void)p;
    (void)g;
    fprintf(stderr, "stencil: --picture %s: built without cairo\n", file);
    return -1;
}

#endif
