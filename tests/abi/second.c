/* A second MPI library, as far as the check at start-up can see. */
int PMPI_Init(int *argc, char ***argv);

int PMPI_Init(int *argc, char ***argv)
{
    return 1;
}
