/* mpiexec: options of the command line. How an option is read, --help and the manual page (a test compares
 * it) follow from its row in options.c. */
#ifndef HL_MX_OPTIONS_H
#define HL_MX_OPTIONS_H

enum hl_mx_opt {
    /* Honoured, for one part */
    HL_MX_OPT_N,
    HL_MX_OPT_EACH, /* ranks on each machine */
    HL_MX_OPT_ENV,
    HL_MX_OPT_X,
    HL_MX_OPT_WDIR,
    /* Honoured, for the whole job */
    HL_MX_OPT_GENV,
    HL_MX_OPT_LABEL,
    HL_MX_OPT_OUTPUT,
    HL_MX_OPT_BIND,
    HL_MX_OPT_MAP,
    HL_MX_OPT_REPORT,
    HL_MX_OPT_TIMEOUT,
    HL_MX_OPT_KEEP,
    HL_MX_OPT_ERRHANDLER,
    HL_MX_OPT_SHARE,
    HL_MX_OPT_STRICT,
    HL_MX_OPT_HOSTS,
    HL_MX_OPT_HOSTFILE,
    HL_MX_OPT_VERBOSE,
    HL_MX_OPT_QUIET,
    HL_MX_OPT_LIBRARY,
    HL_MX_OPT_SYSFS,
    HL_MX_OPT_HELP,
    HL_MX_OPT_VERSION,
    /* Of other launchers, without a counterpart */
    HL_MX_OPT_RANK,
    HL_MX_OPT_SIGNALS,
    HL_MX_OPT_NOTHING, /* accepted, and named in the line about such options */
    HL_MX_OPT_REFUSED
};

/* Values that are two words, or one with `=`. */
#define HL_MX_PAIR "NAME VALUE"

/* One spelling of an option. Rows without `text` are further spellings of the last row with one. */
struct hl_mx_row {
    const char *name;
    enum hl_mx_opt id;
    const char *values; /* the values that follow, as --help names them: words between blanks; "": none */
    const char *text;   /* what it does, or why it has no effect, or what to write instead */
};
extern const struct hl_mx_row hl_mx_rows[];
extern const int hl_mx_row_count;

#endif
