"""Does a sidecar keep the wire's rules? Drives any command with valid and invalid requests and judges rule by rule."""
