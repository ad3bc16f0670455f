"""The demo without its screen: a talk of 600 messages, a process that is killed, what is found."""
