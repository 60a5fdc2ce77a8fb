/* Nothing: a file of this name exists only to be recorded by programs and to need libhotlane. */
typedef int hl_nothing;
