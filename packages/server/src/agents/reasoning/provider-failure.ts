import { RefusedAddress } from '../../platform/outbound/urls.ts'
import { EvaluationError, RunFailure, type Usage } from './reasoner.ts'

/** Including all retries. */
export const CALL_MS_MAX = 90_000
const FAILURES_IN_A_ROW_MAX = 5
/** Errors that a retry cannot fix: an invalid key, a missing permission, an unknown model. */
const HOPELESS = [401, 403, 404]
const MEANINGS: Record<number, string> = {
  400: 'it rejects a setting in the agent’s llm_config',
  402: 'its account has no credit left',
  429: 'its rate limit is reached, or its quota is used up',
  503: 'it is overloaded or down',
  529: 'it is overloaded',
}

/** No response in time. @param status of an earlier response, after which we retried. */
export class ProviderTimeout extends Error {
  readonly status: number | null

  constructor(status: number | null) {
    super('timeout')
    this.status = status
  }
}

/**
 * Describes a model provider's failure. The SDK's errors contain the whole request, which is customer data, so neither
 * they nor the provider's texts are passed on.
 */
export function explain(error: unknown, usage: Usage, failuresInARow: number): Error {
  const last = (error as { lastError?: unknown }).lastError ?? error
  if (last instanceof RefusedAddress) return new RunFailure(`The model's URL is not allowed: ${last.message}`)
  const { statusCode } = last as { statusCode?: number }
  const what = inWords(last, statusCode)
  if (statusCode !== undefined && HOPELESS.includes(statusCode)) {
    return new RunFailure(`${what}: check its API key and the name of the model.`)
  }
  if (failuresInARow >= FAILURES_IN_A_ROW_MAX) {
    return new RunFailure(`${what} for ${failuresInARow} contacts in a row, so the run ended.`)
  }
  return new EvaluationError(`${what}.`, usage)
}

function inWords(error: unknown, statusCode: number | undefined): string {
  if (error instanceof ProviderTimeout) {
    const before =
      error.status === null || error.status === 200 ? '' : ` (an earlier attempt got status ${error.status})`
    return `The model's provider did not respond within ${CALL_MS_MAX / 1000} seconds${before}`
  }
  if (statusCode === undefined) return "The model's provider could not be reached"
  if (statusCode < 300) return "The response of the model's provider does not match its API: check base_url"
  const meaning = MEANINGS[statusCode]
  return `The model's provider responded with status ${statusCode}${meaning === undefined ? '' : ` (${meaning})`}`
}
