"""Tasks: a file that says what an agent does with each input, run to its end exactly once.

task_file.py reads and checks the file, inputs.py streams what it is about, runner.py does it;
the ledger (state/ledger.py) knows what was done (docs/tasks.md).
"""
