// Questions to the service. Paths are relative to the page: it may lie behind a proxy's prefix.

const KEY = "trellis-key";

// What the service, or the way to it, answers instead of tags.
export class Problem extends Error {
  constructor({ title, detail, status }, retryAfterS = 0) {
    super(detail);
    Object.assign(this, { title, detail, status, retryAfterS });
  }

  // Whether the same text may be answered another time. A server that was started anew may have
  // other models than this page knows of: that is a 404 or a 409.
  get mayPass() {
    return [0, 404, 409].includes(this.status) || this.status >= 500;
  }

  // Whether that is to be expected soon: a server that starts, or has too much to do.
  get passesSoon() {
    return [0, 502, 503].includes(this.status);
  }
}

const UNREACHABLE = { title: "No answer", detail: "The service cannot be reached.", status: 0 };
const NOT_OURS = "Something between this page and the service answered instead of it.";

// A browser may be told to keep nothing: then a key lasts as long as the page.
const storage = () => {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
};
let key = storage()?.getItem(KEY) ?? null;

export const hasKey = () => key !== null;

export function keepKey(given) {
  key = given;
  storage()?.setItem(KEY, given);
}

export function forgetKey() {
  key = null;
  storage()?.removeItem(KEY);
}

export async function models() {
  return (await answered("models", {})).models;
}

export function annotate(task, request, signal) {
  return answered(task, {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "Content-Type": "application/json" },
    signal,
  });
}

async function answered(path, options) {
  const headers = { Accept: "application/json", ...options.headers };
  if (hasKey()) headers["X-API-Key"] = encoded(key);
  try {
    const response = await fetch(path, { ...options, headers });
    if (response.ok) return await response.json();
    throw await problemOf(response);
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Problem) throw error;
    if (error instanceof SyntaxError) throw new Problem({ ...UNREACHABLE, detail: NOT_OURS });
    throw new Problem(UNREACHABLE);
  }
}

// A header holds bytes: a key beyond Latin-1 is sent as UTF-8, and is refused as any wrong one.
const encoded = (text) => String.fromCharCode(...new TextEncoder().encode(text));

async function problemOf(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("application/problem+json")) return notOurs(response.status);
  return new Problem(await response.json(), Number(response.headers.get("Retry-After")) || 0);
}

const notOurs = (status) => new Problem({ title: `Status ${status}`, detail: NOT_OURS, status });
