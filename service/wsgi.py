"""What gunicorn serves: settings, models, app. A start that fails says why in one line."""

import sys

from service.api.app import create_app
from service.config import load_settings
from service.errors import ModelError, SettingError
from service.store.registry import Registry

EXIT_UNUSABLE = 3

try:
    settings = load_settings()
    app = create_app(settings, Registry.open(settings))
except (SettingError, ModelError) as error:
    print(error, file=sys.stderr)
    raise SystemExit(EXIT_UNUSABLE) from None
