"""The app factory: everything is wired here, and nowhere else."""

from collections.abc import Callable
from typing import Any

from flask import Flask, Response
from flask.globals import request_ctx
from flask_swagger_ui import get_swaggerui_blueprint

from service.api.access import guard
from service.api.admission import Admission
from service.api.annotator import Annotator
from service.api.compat.routes import compat_routes
from service.api.health import assess
from service.api.monitoring.monitor import announce, monitor
from service.api.page import page_routes
from service.api.problems import register_problems
from service.api.routes import state_routes, tagging_routes
from service.config import Settings
from service.store.registry import Registry
from service.text.tokenizer import Tokenizer

DOCS_PATH = "/docs"
_DOCS_CONFIG = {
    "app_name": "Trellis API",
    "layout": "BaseLayout",  # without the bar that loads any address
    "validatorUrl": None,  # else the page sends the document's address to swagger.io
    "oauth2RedirectUrl": f"{DOCS_PATH}/oauth2-redirect.html",  # else made of the Host header
}
# The page works offline; this holds it to that. Its configuration is an inline script.
_DOCS_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


def create_app(settings: Settings, registry: Registry) -> Flask:
    """Make the WSGI app. Every loaded model decodes a sentence first: see `/readyz`."""
    tokenizer = Tokenizer()
    app = _App(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # a redirect to another spelling would be HTML
    monitor(app, settings, registry)
    register_problems(app)
    app.after_request(_finish)
    guard(app, settings)
    annotator = Annotator(settings, tokenizer, Admission(settings))
    app.register_blueprint(tagging_routes(settings, registry, annotator))
    app.register_blueprint(compat_routes(settings, registry, annotator))
    app.register_blueprint(state_routes(registry, assess(registry, tokenizer)))
    if settings.demo:
        app.register_blueprint(page_routes())
    docs = get_swaggerui_blueprint(DOCS_PATH, "/openapi.json", _DOCS_CONFIG)
    app.register_blueprint(docs)
    # Its own rule ends in a slash, and would redirect.
    app.add_url_rule(DOCS_PATH, view_func=app.view_functions[f"{docs.name}.show"])
    announce(app, registry)
    return app


class _App(Flask):
    """Flask, without a look at every hook of every request, whether it is asynchronous."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: none here is asynchronous."""
        return func


def _finish(response: Response) -> Response:
    request = request_ctx.request  # itself, not the proxy, which is slower to look into
    if request.method == "OPTIONS" and response.status_code == 200:
        response.headers.pop("Content-Type", None)  # an empty body is not HTML
    response.headers["X-Content-Type-Options"] = "nosniff"
    if request.path.startswith(DOCS_PATH):
        response.headers["Content-Security-Policy"] = _DOCS_POLICY
    return response
