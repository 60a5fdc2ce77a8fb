/* C functions made as the program runs, for callbacks to which MPI passes nothing but MPI's own arguments
 * (reductions, error handlers): each knows the Fortran procedure that it stands for. */
#ifndef HL_FORT_TRAMPOLINE_H
#define HL_FORT_TRAMPOLINE_H

typedef void hl_fort_any(void);

/* What a made function passes on, as the fifth argument; the four before are those that it was called with.
 */
struct hl_fort_bound {
    hl_fort_any *target;    /* the C function that is jumped to */
    hl_fort_any *procedure; /* the Fortran procedure that it is to call */
};

/* The function that calls target with procedure bound to it. The same two give the same function, which is
 * never freed: an operation or an error handler may be in use after the program has freed its handle. So
 * memory grows with the number of different procedures (64 bytes each) and not with the number of calls.
 * There is no other limit. Any thread may call it. NULL with a text at *why: memory, or memory to be
 * executed, was refused; or the processor is neither x86-64 nor aarch64. */
hl_fort_any *hl_fort_trampoline(hl_fort_any *target, hl_fort_any *procedure, const char **why);

#endif
