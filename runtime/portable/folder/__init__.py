"""An agent's memory as a folder of Markdown files: dump.py writes it, load.py takes edits back.

front_matter.py is the form of a file, files.py what each of them says, plan.py what differs.
"""
