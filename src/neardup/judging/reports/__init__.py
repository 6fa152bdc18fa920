"""A run as one HTML page: COUNT and sample the audit → read texts again → passages, charts → page."""
