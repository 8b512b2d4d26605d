"""What results say: one sentence, one table, and what both assume; ``.bayescm`` of every Dataset and DataTree."""

from bayescm.results.display import Answer, register

__all__ = ["Answer"]

register()
