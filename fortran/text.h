/* Characters between Fortran and C. Fortran's CHARACTER has a length that comes beside it and is filled with
 * blanks; C's strings end with 0. (MPI 5.0, section 19.1.4, and the descriptions of the procedures for what
 * is stripped) */
#ifndef HL_FORT_TEXT_H
#define HL_FORT_TEXT_H

#include <stddef.h>

/* What of the blanks around a string from Fortran is no part of it: names of objects and error texts may
 * begin with blanks. */
enum hl_fort_strip { HL_FORT_STRIP_END, HL_FORT_STRIP_BOTH };

/* A copy of len characters as a C string, to be freed. NULL: there is no memory. */
char *hl_fort_string_in(const char *text, size_t len, enum hl_fort_strip strip);

/* Fills Fortran's len characters with string and blanks; what is longer is cut. */
void hl_fort_string_out(char *text, size_t len, const char *string);

/* Fortran's array of strings, of len characters each, `step` strings from one to the next, up to one that is
 * blank: as C has it, with NULL at the end, in one piece to be freed. NULL: there is no memory. */
char **hl_fort_strings_in(const char *texts, size_t len, size_t step);

/* `count` strings side by side, none of which ends the array. */
char **hl_fort_strings_of(const char *texts, size_t len, int count);

/* MPI_Comm_spawn_multiple: array_of_argv(count, *); row i holds the arguments of command i. In one piece, to
 * be freed. */
char ***hl_fort_argvs_in(const char *texts, size_t len, int count);

#endif
