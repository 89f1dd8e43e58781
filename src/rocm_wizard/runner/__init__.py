"""The only place that starts processes."""
