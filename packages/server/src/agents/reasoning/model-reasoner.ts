import type { FinishReason, ModelMessage } from 'ai'
import { readTenant } from '../../access/tenants.ts'
import { conversationsOf } from '../../conversations/read.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { typesOf } from '../action-types.ts'
import type { AgentConfiguration } from '../agent.ts'
import type { WhyNow } from '../triggers/why-now.ts'
import { type Answer, answerSchemaFor, readAnswer } from './answer.ts'
import { fitIntoBudget, tokensAtMost } from './budget.ts'
import { addUsage, type Counted, loadSdk } from './model-usage.ts'
import { type ModelChoice, openModel } from './models.ts'
import { costOf, type Price, priceOf } from './prices.ts'
import { dataMessage, instructionsFor } from './prompt.ts'
import { CALL_MS_MAX, explain, ProviderTimeout } from './provider-failure.ts'
import { CapReached, EvaluationError, NO_USAGE, type Reasoner, type ReserveCost, type Usage } from './reasoner.ts'
import type { Sender } from './values.ts'
import { withoutWithheld } from './withheld.ts'

const CONCURRENCY = 4
const BATCH = 8
/** After the first try, for 408, 409, 429 and 5xx responses and failed connections; the pauses double from 2 s. */
const RETRIES_MAX = 3
const OUTPUT_TOKENS_DEFAULT = 4_000
const CONVERSATIONS = { includeMessages: true, messagesPerThread: 3, page: { page: 1, limit: 5 } }

interface Reply {
  text: string
  answer: Answer | { problems: string }
}

/** Evaluates each contact with a model. The model gets no tools: it can propose actions, but not execute them. */
export function createModelReasoner(
  tenant: Tenant,
  llmFetch: Pick<ApiFetch, 'fetch'>,
  { configuration, sender, why }: { configuration: AgentConfiguration; sender: Sender | null; why: WhyNow },
  choice: ModelChoice,
  ownPrices: Readonly<Record<string, Price>>,
): Reasoner {
  const allowed = typesOf(configuration.capabilities)
  const price = priceOf(choice.model, ownPrices)
  const { temperature, max_tokens: maxOutputTokens = OUTPUT_TOKENS_DEFAULT } = configuration.llm_config
  const schema = answerSchemaFor(allowed)
  let failuresInARow = 0

  const spend = (usage: Usage, messages: readonly ModelMessage[], text: string, counted: Counted | undefined) =>
    addUsage(usage, price, { sent: textOf(messages), text, counted })

  /** The cost of a call whose answer has the maximum length. */
  function costAtMost(messages: readonly ModelMessage[]): number {
    return costOf(price, tokensAtMost(textOf(messages) + JSON.stringify(schema)), maxOutputTokens)
  }

  /** @param read returns the object in the answer; it throws if there is none. */
  function judge(text: string, finish: FinishReason | undefined, usage: Usage, read: () => unknown): Reply {
    if (finish === 'content-filter') throw new EvaluationError('The model refused to answer about this contact.', usage)
    if (finish === 'length') {
      const problems = `it was cut off at ${maxOutputTokens} tokens, the limit in llm_config.max_tokens`
      return { text, answer: { problems } }
    }
    let said: unknown
    try {
      said = read()
    } catch {
      return { text, answer: { problems: 'it is not a JSON object that matches the schema' } }
    }
    return { text, answer: readAnswer(said, allowed) }
  }

  async function ask(messages: ModelMessage[], usage: Usage, signal: AbortSignal): Promise<Reply> {
    const { generateText, jsonSchema, Output, NoObjectGeneratedError } = await loadSdk()
    const limit = AbortSignal.timeout(CALL_MS_MAX)
    let status: number | null = null
    const noting: typeof fetch = async (url, init) => {
      const response = await llmFetch.fetch(url, init)
      status = response.status
      return response
    }
    const [system, ...rest] = messages
    try {
      const result = await generateText({
        model: await openModel(choice, noting),
        instructions: String(system?.content ?? ''),
        messages: rest,
        output: Output.object({
          schema: jsonSchema<unknown>(schema as Parameters<typeof jsonSchema>[0]),
          name: 'proposal',
        }),
        maxOutputTokens,
        maxRetries: RETRIES_MAX,
        abortSignal: AbortSignal.any([signal, limit]),
        // The provider must not store answers; its strict mode allows no free-form object.
        providerOptions: { openai: { store: false, strictJsonSchema: false } },
        ...(temperature === undefined ? {} : { temperature }),
      })
      failuresInARow = 0
      spend(usage, messages, result.text, result.usage)
      return judge(result.text, result.finishReason, usage, () => result.output)
    } catch (error) {
      if (NoObjectGeneratedError.isInstance(error)) {
        failuresInARow = 0
        const text = error.text ?? ''
        spend(usage, messages, text, error.usage)
        return judge(text, error.finishReason, usage, () => {
          throw error
        })
      }
      if (signal.aborted || error instanceof EvaluationError) throw error
      throw explain(limit.aborted ? new ProviderTimeout(status) : error, usage, ++failuresInARow)
    }
  }

  return {
    provider: choice.provider,
    model: choice.model,
    notices:
      price === null ? [`The price of ${choice.model} is not known, so its cost counts as 0. Set CDS_LLM_PRICES.`] : [],
    knowsCosts: price !== null,
    concurrency: CONCURRENCY,
    batch: BATCH,
    prepare: async (_contexts, now) => {
      const { chosen } = await readTenant(tenant)
      const instructionsOf = (contactId: string): ModelMessage => ({
        role: 'system',
        content: instructionsFor({ configuration, sender, why: why(contactId) }, allowed, now),
      })
      return async (context, signal, reserveCost) => {
        const { conversations } = await conversationsOf(tenant, context.contactId, CONVERSATIONS)
        const seen = fitIntoBudget(withoutWithheld(context, chosen), conversations)
        const data: ModelMessage = { role: 'user', content: dataMessage(seen) }
        const messages: ModelMessage[] = [instructionsOf(context.contactId), data]
        const usage = { ...NO_USAGE }
        await reserveCost(costAtMost(messages))
        let { text, answer } = await ask(messages, usage, signal)
        if ('problems' in answer) {
          const again = `Your answer is not valid: ${answer.problems}. Answer again with one JSON object that matches the schema.`
          messages.push({ role: 'assistant', content: text || '(nothing)' }, { role: 'user', content: again })
          await reserveMore(reserveCost, usage, costAtMost(messages), answer.problems)
          answer = (await ask(messages, usage, signal)).answer
        }
        if ('problems' in answer) {
          throw new EvaluationError(`The model gave an invalid answer twice: ${answer.problems}.`, usage)
        }
        return { ...answer, usage }
      }
    },
  }
}

/** Reserves the maximum cost of a second answer, in addition to the cost of the first. */
async function reserveMore(
  reserveCost: ReserveCost,
  usage: Usage,
  costAtMost: number,
  problems: string,
): Promise<void> {
  try {
    await reserveCost(usage.costUsd + costAtMost)
  } catch (error) {
    if (!(error instanceof CapReached)) throw error
    const message = `The model gave an invalid answer: ${problems}. The cost cap did not allow another attempt.`
    throw new EvaluationError(message, usage)
  }
}

function textOf(messages: readonly ModelMessage[]): string {
  return messages.map(({ content }) => String(content)).join('')
}
