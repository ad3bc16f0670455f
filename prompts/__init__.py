"""Every sentence written to a model, one file each; README.md says who fills what."""
