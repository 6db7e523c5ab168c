// Questions to the service. Paths are relative to the page: it may lie behind a proxy's prefix.

const KEY = "trellis-key";

// What the service, or the way to it, answers instead of tags.
export class Problem extends Error {
  constructor({ title, detail, status }) {
    super(detail);
    Object.assign(this, { title, detail, status });
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const keepKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);

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
  if (hasKey()) headers["X-API-Key"] = encoded(sessionStorage.getItem(KEY));
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "No answer", detail: "The service cannot be reached.", status: 0 });
  }
  if (response.ok) return response.json();
  throw new Problem(await problemOf(response));
}

// A header holds bytes: a key beyond Latin-1 is sent as UTF-8, and is refused as any wrong one.
const encoded = (key) => String.fromCharCode(...new TextEncoder().encode(key));

async function problemOf(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("application/problem+json")) return response.json();
  const detail = "Something between this page and the service answered instead of it.";
  return { title: `Status ${response.status}`, detail, status: response.status };
}
