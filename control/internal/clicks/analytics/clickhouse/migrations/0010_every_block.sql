{{/* Statements for a cluster were here. Tables that are replicated have had the settings since they were made. */}}
