"""What all tests share: property tests are judged by what they assert, not by how busy the computer is."""

from hypothesis import HealthCheck, settings

# The first example of a run reads the source of every loaded module for constants, which takes seconds with torch's.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
