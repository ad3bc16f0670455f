"""The command line: app is the table of commands, one file for each group."""
