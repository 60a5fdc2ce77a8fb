/* Rows of missing.c: the tool interface. MISSING(name, communicator whose error handler runs, parameters) */
MISSING(MPI_T_category_changed, MPI_COMM_NULL, (int *update_number))
MISSING(MPI_T_category_get_categories, MPI_COMM_NULL, (int cat_index, int len, int indices[]))
MISSING(MPI_T_category_get_cvars, MPI_COMM_NULL, (int cat_index, int len, int indices[]))
MISSING(MPI_T_category_get_events, MPI_COMM_NULL, (int cat_index, int len, int indices[]))
MISSING(MPI_T_category_get_index, MPI_COMM_NULL, (const char *name, int *cat_index))
MISSING(MPI_T_category_get_info, MPI_COMM_NULL,
        (int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int *num_pvars,
         int *num_categories))
MISSING(MPI_T_category_get_num, MPI_COMM_NULL, (int *num_cat))
MISSING(MPI_T_category_get_num_events, MPI_COMM_NULL, (int cat_index, int *num_events))
MISSING(MPI_T_category_get_pvars, MPI_COMM_NULL, (int cat_index, int len, int indices[]))
MISSING(MPI_T_cvar_get_index, MPI_COMM_NULL, (const char *name, int *cvar_index))
MISSING(MPI_T_cvar_get_info, MPI_COMM_NULL,
        (int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope))
MISSING(MPI_T_cvar_get_num, MPI_COMM_NULL, (int *num_cvar))
MISSING(MPI_T_cvar_handle_alloc, MPI_COMM_NULL,
        (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count))
MISSING(MPI_T_cvar_handle_free, MPI_COMM_NULL, (MPI_T_cvar_handle * handle))
MISSING(MPI_T_cvar_read, MPI_COMM_NULL, (MPI_T_cvar_handle handle, void *buf))
MISSING(MPI_T_cvar_write, MPI_COMM_NULL, (MPI_T_cvar_handle handle, const void *buf))
MISSING(MPI_T_enum_get_info, MPI_COMM_NULL, (MPI_T_enum enumtype, int *num, char *name, int *name_len))
MISSING(MPI_T_enum_get_item, MPI_COMM_NULL,
        (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len))
MISSING(MPI_T_event_callback_get_info, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used))
MISSING(MPI_T_event_callback_set_info, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info))
MISSING(MPI_T_event_copy, MPI_COMM_NULL, (MPI_T_event_instance event_instance, void *buffer))
MISSING(MPI_T_event_get_index, MPI_COMM_NULL, (const char *name, int *event_index))
MISSING(MPI_T_event_get_info, MPI_COMM_NULL,
        (int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
         MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info,
         char *desc, int *desc_len, int *bind))
MISSING(MPI_T_event_get_num, MPI_COMM_NULL, (int *num_events))
MISSING(MPI_T_event_get_source, MPI_COMM_NULL, (MPI_T_event_instance event_instance, int *source_index))
MISSING(MPI_T_event_get_timestamp, MPI_COMM_NULL,
        (MPI_T_event_instance event_instance, MPI_Count *event_timestamp))
MISSING(MPI_T_event_handle_alloc, MPI_COMM_NULL,
        (int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *event_registration))
MISSING(MPI_T_event_handle_free, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, void *user_data,
         MPI_T_event_free_cb_function free_cb_function))
MISSING(MPI_T_event_handle_get_info, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_Info *info_used))
MISSING(MPI_T_event_handle_set_info, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_Info info))
MISSING(MPI_T_event_read, MPI_COMM_NULL,
        (MPI_T_event_instance event_instance, int element_index, void *buffer))
MISSING(MPI_T_event_register_callback, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
         void *user_data, MPI_T_event_cb_function event_cb_function))
MISSING(MPI_T_event_set_dropped_handler, MPI_COMM_NULL,
        (MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function))
MISSING(MPI_T_finalize, MPI_COMM_NULL, (void))
MISSING(MPI_T_init_thread, MPI_COMM_NULL, (int required, int *provided))
MISSING(MPI_T_pvar_get_index, MPI_COMM_NULL, (const char *name, int var_class, int *pvar_index))
MISSING(MPI_T_pvar_get_info, MPI_COMM_NULL,
        (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype,
         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
         int *atomic))
MISSING(MPI_T_pvar_get_num, MPI_COMM_NULL, (int *num_pvar))
MISSING(MPI_T_pvar_handle_alloc, MPI_COMM_NULL,
        (MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle, int *count))
MISSING(MPI_T_pvar_handle_free, MPI_COMM_NULL, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle))
MISSING(MPI_T_pvar_read, MPI_COMM_NULL, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
MISSING(MPI_T_pvar_readreset, MPI_COMM_NULL,
        (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
MISSING(MPI_T_pvar_reset, MPI_COMM_NULL, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MISSING(MPI_T_pvar_session_create, MPI_COMM_NULL, (MPI_T_pvar_session * session))
MISSING(MPI_T_pvar_session_free, MPI_COMM_NULL, (MPI_T_pvar_session * session))
MISSING(MPI_T_pvar_start, MPI_COMM_NULL, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MISSING(MPI_T_pvar_stop, MPI_COMM_NULL, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MISSING(MPI_T_pvar_write, MPI_COMM_NULL,
        (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf))
MISSING(MPI_T_source_get_info, MPI_COMM_NULL,
        (int source_index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering,
         MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info))
MISSING(MPI_T_source_get_num, MPI_COMM_NULL, (int *num_sources))
MISSING(MPI_T_source_get_timestamp, MPI_COMM_NULL, (int source_index, MPI_Count *timestamp))
