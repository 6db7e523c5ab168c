"""What monitors see of the service: metrics, a log line a request, traces. Never a user's text."""
