"""Agents together: messages between the agents of one home, answered at once or later."""
