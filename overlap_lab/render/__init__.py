"""Report and Comparison -> text, JSON, HTML. Each renderer returns a string; nothing here measures."""
