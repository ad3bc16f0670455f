"""Models: litellm, the embedded llama.cpp, the scripted one, and the embedders."""
