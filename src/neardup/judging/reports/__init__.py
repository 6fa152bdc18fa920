"""A run as one HTML page: COUNT and sample the audit → read texts again → texts side by side, charts → page."""
