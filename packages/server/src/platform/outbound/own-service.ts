const RESPONDS_WITHIN_MS = 1_000

/**
 * Whether the service responds at a URL that the operator's settings name, which need no check: a command asks it on its own
 * machine.
 */
export async function isService(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(RESPONDS_WITHIN_MS) })
    const body = (await response.json()) as { status?: unknown } | null
    return body?.status === 'ok'
  } catch {
    // Nothing listens there, or something else than the service.
    return false
  }
}
