"""Chats and memories of other tools, taken into an agent (docs/portability.md).

source.py opens a file and reads it piece by piece; one module for each tool makes items.py's values
of it; exchanges.py makes calls and results legal; taking.py and pager.py put them into an agent;
importer.py is the door.
"""
