import type { LanguageModel, ModelMessage } from 'ai'
import { conversationsOf } from '../../conversations/read.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { typesOf } from '../action-types.ts'
import type { AgentConfiguration } from '../agent.ts'
import { type Answer, answerSchemaFor, readAnswer } from './answer.ts'
import { estimateTokens, fitIntoBudget } from './budget.ts'
import { type ModelChoice, openModel } from './models.ts'
import { costOf, type Price, priceOf } from './prices.ts'
import { dataMessage, instructionsFor } from './prompt.ts'
import { EvaluationError, NO_USAGE, type Reasoner, RunFailure, type Usage } from './reasoner.ts'
import type { Sender } from './values.ts'

const CONCURRENCY = 4
const BATCH = 8
const CALL_MS_MAX = 90_000
/** After the first try, for answers 408, 409, 429 and 5xx and for connections that fail; the pauses double from 2 s. */
const RETRIES_MAX = 3
const OUTPUT_TOKENS_DEFAULT = 4_000
const FAILURES_IN_A_ROW_MAX = 5
const CONVERSATIONS = { includeMessages: true, messagesPerThread: 3, limit: 5 }
/** What a second try would not mend: a key, a right or a model that the provider does not know. */
const HOPELESS = [401, 403, 404]

interface Reply {
  text: string
  answer: Answer | { problems: string }
}

/** Asks a model about each contact. It gets no tools: it can say what should be done, and do nothing. */
export function createModelReasoner(
  tenant: Tenant,
  llmFetch: Pick<ApiFetch, 'fetch'>,
  configuration: AgentConfiguration,
  sender: Sender | null,
  choice: ModelChoice,
  ownPrices: Readonly<Record<string, Price>>,
): Reasoner {
  const allowed = typesOf(configuration.capabilities)
  const price = priceOf(choice.model, ownPrices)
  const { temperature, max_tokens: maxOutputTokens = OUTPUT_TOKENS_DEFAULT } = configuration.llm_config
  let opened: Promise<LanguageModel> | undefined
  let failuresInARow = 0

  /** Adds what a call took, as the provider counts it, or as we estimate it where it does not say. */
  function spend(usage: Usage, messages: readonly ModelMessage[], text: string, counted: Counted | undefined): void {
    const sent = messages.map(({ content }) => String(content)).join('')
    const inputTokens = counted?.inputTokens ?? estimateTokens(sent)
    const outputTokens = counted?.outputTokens ?? estimateTokens(text)
    usage.inputTokens += inputTokens
    usage.outputTokens += outputTokens
    usage.costUsd += costOf(price, inputTokens, outputTokens)
  }

  async function ask(messages: ModelMessage[], usage: Usage, signal: AbortSignal): Promise<Reply> {
    const { generateText, jsonSchema, Output, NoObjectGeneratedError } = await loadSdk()
    opened ??= openModel(choice, llmFetch.fetch as typeof fetch)
    const schema = jsonSchema<unknown>(answerSchemaFor(allowed) as Parameters<typeof jsonSchema>[0])
    const [system, ...rest] = messages
    try {
      const result = await generateText({
        model: await opened,
        instructions: String(system?.content ?? ''),
        messages: rest,
        output: Output.object({ schema, name: 'proposal' }),
        maxOutputTokens,
        maxRetries: RETRIES_MAX,
        abortSignal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS_MAX)]),
        // Answers are not to be kept by the provider; a free-form object has no place in its strict mode.
        providerOptions: { openai: { store: false, strictJsonSchema: false } },
        ...(temperature === undefined ? {} : { temperature }),
      })
      spend(usage, messages, result.text, result.usage)
      return { text: result.text, answer: readAnswer(result.output, allowed) }
    } catch (error) {
      if (!NoObjectGeneratedError.isInstance(error)) throw error
      const text = error.text ?? ''
      spend(usage, messages, text, error.usage)
      return { text, answer: { problems: 'the answer is not one JSON object of the schema' } }
    }
  }

  return {
    provider: choice.provider,
    model: choice.model,
    notices:
      price === null
        ? [`The price of ${choice.model} is not known: costs count as 0, and no cost cap holds. Set CDS_LLM_PRICES.`]
        : [],
    concurrency: CONCURRENCY,
    batch: BATCH,
    prepare: async (_contexts, now) => {
      const instructions: ModelMessage = {
        role: 'system',
        content: instructionsFor(configuration, allowed, sender, now),
      }
      return async (context, signal) => {
        const { conversations } = await conversationsOf(tenant, context.contactId, CONVERSATIONS)
        const data: ModelMessage = { role: 'user', content: dataMessage(fitIntoBudget(context, conversations)) }
        const messages: ModelMessage[] = [instructions, data]
        const usage = { ...NO_USAGE }
        try {
          let { text, answer } = await ask(messages, usage, signal)
          if ('problems' in answer) {
            const again = `Your answer is not valid: ${answer.problems}. Answer again with one JSON object of the schema.`
            messages.push({ role: 'assistant', content: text || '(nothing)' }, { role: 'user', content: again })
            answer = (await ask(messages, usage, signal)).answer
          }
          failuresInARow = 0
          if ('problems' in answer) {
            throw new EvaluationError(`The model's answer was not valid twice: ${answer.problems}.`, usage)
          }
          return { ...answer, usage }
        } catch (error) {
          if (error instanceof EvaluationError || signal.aborted) throw error
          throw explain(error, usage, ++failuresInARow)
        }
      }
    },
  }
}

type Counted = { inputTokens?: number | undefined; outputTokens?: number | undefined }

/**
 * Says what went wrong with the provider. The SDK's own errors hold the whole request, which is customer data, so
 * neither they nor the provider's words go further than here.
 */
function explain(error: unknown, usage: Usage, failuresInARow: number): Error {
  const last = (error as { lastError?: unknown }).lastError ?? error
  const { statusCode, name } = last as { statusCode?: number; name?: string }
  const what =
    statusCode !== undefined
      ? `The model's provider answered ${statusCode}`
      : name === 'TimeoutError'
        ? `The model's provider gave no answer in ${CALL_MS_MAX / 1000} seconds`
        : "The model's provider could not be reached"
  if (statusCode !== undefined && HOPELESS.includes(statusCode)) {
    return new RunFailure(`${what}: check its API key and the name of the model.`)
  }
  if (failuresInARow >= FAILURES_IN_A_ROW_MAX) {
    return new RunFailure(`${what} for ${failuresInARow} contacts in a row; the run was ended.`)
  }
  return new EvaluationError(`${what}.`, usage)
}

async function loadSdk() {
  // The SDK prints warnings; what a run should know is in its notices.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
  return import('ai')
}
