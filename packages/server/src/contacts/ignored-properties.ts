const NAMED_MAX = 50

/**
 * The warning that names a page's ignored keys. It is the same for every reason, so that a page learns only that it may
 * not change a value, and nothing about the value. @param keys as in the request.
 */
export function ignoredWarnings(keys: readonly string[]): string[] {
  if (keys.length === 0) return []
  const more = keys.length > NAMED_MAX ? ` and ${keys.length - NAMED_MAX} more` : ''
  const named = `${keys.slice(0, NAMED_MAX).join(', ')}${more}`
  return [
    `Ignored: ${named}. Pages can fill blanks and replace earlier values from pages, but cannot override other sources or set protected properties.`,
  ]
}
