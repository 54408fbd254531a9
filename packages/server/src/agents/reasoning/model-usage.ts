import { estimateTokens } from './budget.ts'
import { costOf, type Price } from './prices.ts'
import type { Usage } from './reasoner.ts'

/** The tokens of a call as the provider counts them. */
export interface Counted {
  inputTokens?: number | undefined
  inputTokenDetails?: { cacheReadTokens?: number | undefined }
  outputTokens?: number | undefined
}

/** Adds the usage of a call as the provider counts it, or our estimate if the provider reports none. */
export function addUsage(
  usage: Usage,
  price: Price | null,
  { sent, text, counted }: { sent: string; text: string; counted: Counted | undefined },
): void {
  const inputTokens = believable(counted?.inputTokens) ?? estimateTokens(sent)
  const outputTokens = believable(counted?.outputTokens) ?? estimateTokens(text)
  const cachedTokens = Math.min(believable(counted?.inputTokenDetails?.cacheReadTokens) ?? 0, inputTokens)
  usage.inputTokens += inputTokens
  usage.outputTokens += outputTokens
  usage.costUsd += costOf(price, inputTokens, outputTokens, cachedTokens)
}

/** More tokens than any call can use; a higher or negative count from a server is ignored. */
const TOKENS_MAX = 100_000_000

function believable(tokens: number | undefined): number | null {
  return Number.isSafeInteger(tokens) && Number(tokens) >= 0 && Number(tokens) <= TOKENS_MAX ? Number(tokens) : null
}

/** Loads the SDK when the first model is called. */
export async function loadSdk() {
  // The SDK prints warnings to the console; notices carry what users need to know.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
  return import('ai')
}
