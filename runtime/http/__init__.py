"""An agent over HTTP: the chat completions of OpenAI, and the JSON contracts as REST."""
