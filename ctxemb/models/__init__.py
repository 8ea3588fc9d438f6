"""The encoders, one file a family; each Config stands directly above its Module."""
