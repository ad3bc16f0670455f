"""The inspector's page: all of an agent in one HTML file that needs no network."""
