"""What the tests' gunicorn serves: the app over the rules of `fakes`."""

from service.api.app import create_app
from service.config import load_settings
from tests.api.fakes import rule_registry

app = create_app(load_settings(), rule_registry())
