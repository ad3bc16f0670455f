"""The sleep-time worker: what tends an agent's memory between its turns.

job.py says what a job is and what it is given; each job has a file of its own; worker.py runs them.
"""
