"""gunicorn's settings for a checkout; an installed package has them as the module itself."""

from service.gunicorn_settings import *  # noqa: F403
