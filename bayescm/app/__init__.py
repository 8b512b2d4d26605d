"""The local page: ``bayescm app`` serves it, and ``docs/_static/bayescm.html`` is the part that needs no server."""
