"""The ceiling for HTTP: an application that does nothing."""
