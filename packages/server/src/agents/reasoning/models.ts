import type { LanguageModel } from 'ai'
import type { Config } from '../../config.ts'
import type { Provider } from '../agent.ts'

/** The settings of models, from the environment. API keys are nowhere else. */
export type LlmSettings = Omit<Config['llm'], 'allowPrivate'>

export type ModelProvider = Exclude<Provider, 'template'>

/** A model that an agent can use. */
export interface ModelChoice {
  provider: ModelProvider
  model: string
  baseUrl: string
  apiKey: string | null
}

const DEFAULT_MODELS = { openai: 'gpt-5-mini', anthropic: 'claude-haiku-4-5' } as const

interface Wanted {
  provider?: Provider | undefined
  model?: string | undefined
  base_url?: string | undefined
}

/**
 * Chooses an agent's model: of the provider that it names, else of the first that the environment has a key for.
 * @returns null if there is none; the template provider is then used.
 */
export function chooseModel(settings: LlmSettings, wanted: Wanted): ModelChoice | null {
  const { openaiApiKey, anthropicApiKey, openaiBaseUrl, anthropicBaseUrl, baseUrl } = settings
  const provider = wanted.provider ?? configuredProvider(settings)
  switch (provider) {
    case 'openai': {
      const model = wanted.model ?? modelByDefault(settings, wanted) ?? DEFAULT_MODELS.openai
      return openaiApiKey === null ? null : { provider, model, baseUrl: openaiBaseUrl, apiKey: openaiApiKey }
    }
    case 'anthropic': {
      const model = wanted.model ?? modelByDefault(settings, wanted) ?? DEFAULT_MODELS.anthropic
      return anthropicApiKey === null ? null : { provider, model, baseUrl: anthropicBaseUrl, apiKey: anthropicApiKey }
    }
    case 'openai_compatible': {
      const address = wanted.base_url ?? baseUrl
      const model = wanted.model ?? settings.model
      if (address === null || model === null) return null
      // The operator's key must not be sent to an address that a tenant chose.
      return { provider, model, baseUrl: address, apiKey: address === baseUrl ? settings.apiKey : null }
    }
    default:
      return null
  }
}

function configuredProvider({ openaiApiKey, anthropicApiKey, baseUrl }: LlmSettings): Provider | undefined {
  // An address set by the operator takes precedence: a key may be set for another purpose.
  if (baseUrl !== null) return 'openai_compatible'
  if (openaiApiKey !== null) return 'openai'
  return anthropicApiKey === null ? undefined : 'anthropic'
}

/** CDS_LLM_MODEL applies to the configured provider; another provider that an agent names uses its own default. */
function modelByDefault({ model }: LlmSettings, wanted: Wanted): string | null {
  return wanted.provider === undefined ? model : null
}

/** Opens a model through the AI SDK, which is loaded when the first model is needed. */
export async function openModel(
  { provider, model, baseUrl, apiKey }: ModelChoice,
  fetchThrough: typeof fetch,
): Promise<LanguageModel> {
  const options = { baseURL: baseUrl, fetch: fetchThrough }
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ ...options, apiKey: apiKey ?? '' })(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ ...options, apiKey: apiKey ?? '' })(model)
    }
    case 'openai_compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const named = { ...options, name: 'openai_compatible' }
      return createOpenAICompatible({ ...named, ...(apiKey === null ? {} : { apiKey }) })(model)
    }
  }
}
