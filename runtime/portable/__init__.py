"""An agent as one file: `export_agent` writes it, `import_agent` reads it (docs/portability.md).

manifest.py and tables.py say what the file is, container.py and parquet.py how it is written and
read, exporter.py and importer.py do it. kinds.py tells the files of other tools apart.
"""
