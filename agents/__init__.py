"""Agent definitions that work as shipped."""
