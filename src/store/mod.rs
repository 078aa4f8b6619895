//! Results on disk: layout, atomic writes, schemas and their versions.
