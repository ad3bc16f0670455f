"""Erasure: what a person wants gone, what rests on it, and how it goes for good, with proof."""
