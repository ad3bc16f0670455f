"""The state database (SQLite): the authority for every text an agent holds."""
