"""The functions the model calls; this file is the table."""
