import type { LanguageModel } from 'ai'
import type { Config } from '../../config.ts'
import type { Provider } from '../agent.ts'

/** What the environment says of models. Keys live there and nowhere else. */
export type LlmSettings = Omit<Config['llm'], 'allowPrivate'>

export type ModelProvider = Exclude<Provider, 'template'>

/** A model that an agent can use. */
export interface ModelChoice {
  provider: ModelProvider
  model: string
  baseUrl: string | null
  apiKey: string | null
}

const DEFAULT_MODELS = { openai: 'gpt-5-mini', anthropic: 'claude-haiku-4-5' } as const

interface Wanted {
  provider?: Provider | undefined
  model?: string | undefined
  base_url?: string | undefined
}

/**
 * Which model an agent uses: the provider that it names, else the first that the environment has a key for.
 * @returns null when there is none; then the template provider steps in.
 */
export function chooseModel(settings: LlmSettings, wanted: Wanted): ModelChoice | null {
  const { openaiApiKey, anthropicApiKey, baseUrl } = settings
  const provider = wanted.provider ?? configuredProvider(settings)
  switch (provider) {
    case 'openai':
      return choice(provider, openaiApiKey, wanted.model ?? modelByDefault(settings, wanted) ?? DEFAULT_MODELS.openai)
    case 'anthropic': {
      const model = wanted.model ?? modelByDefault(settings, wanted) ?? DEFAULT_MODELS.anthropic
      return choice(provider, anthropicApiKey, model)
    }
    case 'openai_compatible': {
      const address = wanted.base_url ?? baseUrl
      const model = wanted.model ?? settings.model
      if (address === null || model === null) return null
      // The operator's key must not go wherever a tenant points to.
      return { provider, model, baseUrl: address, apiKey: address === baseUrl ? settings.apiKey : null }
    }
    default:
      return null
  }
}

function configuredProvider({ openaiApiKey, anthropicApiKey, baseUrl }: LlmSettings): Provider | undefined {
  // An address that the operator has set says more than a key that may be there for something else.
  if (baseUrl !== null) return 'openai_compatible'
  if (openaiApiKey !== null) return 'openai'
  return anthropicApiKey === null ? undefined : 'anthropic'
}

/** CDS_LLM_MODEL is the configured provider's model; an agent that names another provider gets that one's own. */
function modelByDefault({ model }: LlmSettings, wanted: Wanted): string | null {
  return wanted.provider === undefined ? model : null
}

function choice(provider: 'openai' | 'anthropic', apiKey: string | null, model: string): ModelChoice | null {
  return apiKey === null ? null : { provider, model, baseUrl: null, apiKey }
}

/** Opens a model through the AI SDK, which is loaded when the first model is needed. */
export async function openModel(
  { provider, model, baseUrl, apiKey }: ModelChoice,
  fetchThrough: typeof fetch,
): Promise<LanguageModel> {
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ apiKey: apiKey ?? '', baseURL: 'https://api.openai.com/v1', fetch: fetchThrough })(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      const baseURL = 'https://api.anthropic.com/v1'
      return createAnthropic({ apiKey: apiKey ?? '', baseURL, fetch: fetchThrough })(model)
    }
    case 'openai_compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const options = { name: 'openai_compatible', baseURL: baseUrl ?? '', fetch: fetchThrough }
      return createOpenAICompatible({ ...options, ...(apiKey === null ? {} : { apiKey }) })(model)
    }
  }
}
