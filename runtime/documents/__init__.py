"""Files as text. `read.read_document(path)` is the door; each kind of file has one reader."""
