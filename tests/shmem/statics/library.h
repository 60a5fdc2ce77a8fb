/* Data of a library of the program. */
extern long library_first;
extern long library_zeroed[1000];
long *library_hidden(void); /* an array of 10 that starts with 41, 42, 0 … */
