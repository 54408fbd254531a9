/** A provider's price for a million tokens, in US dollars. */
export interface Price {
  input: number
  output: number
  /** For input in the provider's cache; without it, the price of other input. */
  cached_input?: number
}

/**
 * List prices known when this was written; CDS_LLM_PRICES overrides them. A model's dated name has the model's price.
 */
const LIST_PRICES: Record<string, Price> = {
  'gpt-5': { input: 1.25, output: 10, cached_input: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cached_input: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cached_input: 0.005 },
  'gpt-4.1': { input: 2, output: 8, cached_input: 0.5 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6, cached_input: 0.1 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4, cached_input: 0.025 },
  'gpt-4o': { input: 2.5, output: 10, cached_input: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cached_input: 0.075 },
  'claude-opus-4-5': { input: 5, output: 25, cached_input: 0.5 },
  'claude-sonnet-4-5': { input: 3, output: 15, cached_input: 0.3 },
  'claude-haiku-4-5': { input: 1, output: 5, cached_input: 0.1 },
  'claude-sonnet-4-0': { input: 3, output: 15, cached_input: 0.3 },
}

const DATED = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/

/** The price of a model; null if it is not known. @param own prices by model, which take precedence. */
export function priceOf(model: string, own: Readonly<Record<string, Price>>): Price | null {
  for (const name of [model, model.replace(DATED, '')]) {
    if (Object.hasOwn(own, name)) return own[name] ?? null
    if (Object.hasOwn(LIST_PRICES, name)) return LIST_PRICES[name] ?? null
  }
  return null
}

/** The cost of a call, in US dollars. @param cachedTokens how many input tokens were in the provider's cache. */
export function costOf(price: Price | null, inputTokens: number, outputTokens: number, cachedTokens = 0): number {
  if (price === null) return 0
  const { input, output, cached_input = input } = price
  return (input * (inputTokens - cachedTokens) + cached_input * cachedTokens + output * outputTokens) / 1_000_000
}
