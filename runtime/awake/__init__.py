"""Agents that wake by themselves: the keeper runs turns for what waits, timers and folders wake."""
