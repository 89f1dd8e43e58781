"""The host's side of the wire: typed messages, one request at a time, measurements by the host's clock."""
