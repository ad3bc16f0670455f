"""The LanceDB tiers: recall and archival, derived rows that can be rebuilt."""
