"""The page at `/`, for people: it asks the paths of the service as any client does."""

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

PAGE_PATH = "/"
STATIC_PATH = "/static"
_FOLDER = Path(__file__).resolve().parent.parent / "web"
_HEADERS = {
    # Nothing but this server's own files, no inline script or style, no frame, no form that leaves.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


def page_routes() -> Blueprint:
    """`/` and its files; a browser asks each time whether they changed, and sees an upgrade."""
    routes = Blueprint(
        "page", __name__, static_folder=_FOLDER / "static", static_url_path=STATIC_PATH
    )

    @routes.get(PAGE_PATH)
    def page() -> Response:
        return send_from_directory(_FOLDER, "index.html")

    @routes.after_request
    def _protect(response: Response) -> Response:
        response.headers.update(_HEADERS)
        return response

    return routes
