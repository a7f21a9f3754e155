"""Pages to read, and how those of the API are made."""
