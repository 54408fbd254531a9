import type { FinishReason, ModelMessage, ToolSet } from 'ai'
import { verifiedDomains } from '../../access/domains-of-tenant.ts'
import { readTenant } from '../../access/tenants.ts'
import { conversationsOf } from '../../conversations/read.ts'
import { ServiceError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { typesOf } from '../action-types.ts'
import type { AgentConfiguration } from '../agent.ts'
import type { WhyNow } from '../triggers/why-now.ts'
import { type Answer, answerSchemaFor, readAnswer } from './answer.ts'
import { fitIntoBudget, tokensAtMost } from './budget.ts'
import type { ContactContext } from './context.ts'
import { type Lessons, lessonsOf, NO_LESSONS, withReply } from './decisions.ts'
import { checkTexts } from './facts.ts'
import { addUsage, type Counted, loadSdk } from './model-usage.ts'
import { type MadeCall, type ModelDoor, type ModelView, TOOLS_MAX } from './model-view.ts'
import { type ModelChoice, openModel } from './models.ts'
import { costOf, type Price, priceOf } from './prices.ts'
import { dataMessage, instructionsFor } from './prompt.ts'
import { CALL_MS_MAX, explain, ProviderTimeout } from './provider-failure.ts'
import {
  CapReached,
  type Evaluation,
  EvaluationError,
  NO_USAGE,
  type Reasoner,
  type ReserveCost,
  type Usage,
} from './reasoner.ts'
import { type AskedCall, dataOf, describeTools, performCalls } from './tool-rounds.ts'
import type { Sender } from './values.ts'
import { withoutWithheld } from './withheld.ts'

const CONCURRENCY = 4
const BATCH = 8
/** After the first try, for 408, 409, 429 and 5xx responses and failed connections; the pauses double from 2 s. */
const RETRIES_MAX = 3
const OUTPUT_TOKENS_DEFAULT = 4_000
/** A model that looks for longer must answer: a run without progress is taken for stuck. */
const LOOKING_MS_MAX = 4 * MINUTE_MS
const CONVERSATIONS = { includeMessages: true, messagesPerThread: 3, page: { page: 1, limit: 5 } }

interface Reply {
  text: string
  /** What the model wants to look up; it has not answered yet. */
  calls: readonly AskedCall[]
  /** Its own messages, as the provider expects them before the results of the calls. */
  said: readonly ModelMessage[]
  answer: Answer | { problems: string }
}

interface Task {
  configuration: AgentConfiguration
  sender: Sender | null
  why: WhyNow
  agentId: string | null
}

interface Outside {
  llmFetch: Pick<ApiFetch, 'fetch'>
  door: ModelDoor
}

/**
 * Evaluates each contact with a model, which may look things up with the tools that only read. It can propose actions, but not
 * execute them.
 */
export function createModelReasoner(
  tenant: Tenant,
  { llmFetch, door }: Outside,
  { configuration, sender, why, agentId }: Task,
  choice: ModelChoice,
  ownPrices: Readonly<Record<string, Price>>,
): Reasoner {
  const allowed = typesOf(configuration.capabilities)
  const price = priceOf(choice.model, ownPrices)
  const { temperature, max_tokens: maxOutputTokens = OUTPUT_TOKENS_DEFAULT } = configuration.llm_config
  const { tools_max: toolsMax = TOOLS_MAX.default, redact_personal_data: redacts = false } = configuration.llm_config
  const schema = answerSchemaFor(allowed)
  let failuresInARow = 0
  let lessons: Promise<Lessons> | undefined

  const spend = (usage: Usage, sent: string, text: string, counted: Counted | undefined) =>
    addUsage(usage, price, { sent, text, counted })

  /** The cost of a call whose answer has the maximum length. */
  function costAtMost(messages: readonly ModelMessage[], tools: ToolSet): number {
    return costOf(price, tokensAtMost(textOf(messages, tools) + JSON.stringify(schema)), maxOutputTokens)
  }

  /** @param read returns the object in the answer; it throws if there is none. */
  function judge(text: string, finish: FinishReason | undefined, usage: Usage, read: () => unknown): Reply {
    const reply = { text, calls: [], said: [] }
    if (finish === 'content-filter') throw new EvaluationError('The model refused to answer about this contact.', usage)
    if (finish === 'length') {
      const problems = `it was cut off at ${maxOutputTokens} tokens, the limit in llm_config.max_tokens`
      return { ...reply, answer: { problems } }
    }
    let said: unknown
    try {
      said = read()
    } catch {
      return { ...reply, answer: { problems: 'it is not a JSON object that matches the schema' } }
    }
    return { ...reply, answer: readAnswer(said, allowed) }
  }

  /** @param mayCall whether the answer may be calls of the tools, which are described to the provider in any case. */
  async function ask(
    messages: readonly ModelMessage[],
    tools: ToolSet,
    mayCall: boolean,
    usage: Usage,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { generateText, jsonSchema, Output, NoObjectGeneratedError, ToolChoiceViolationError } = await loadSdk()
    const limit = AbortSignal.timeout(CALL_MS_MAX)
    let status: number | null = null
    const noting: typeof fetch = async (url, init) => {
      const response = await llmFetch.fetch(url, init)
      status = response.status
      return response
    }
    const [system, ...rest] = messages
    const sent = textOf(messages, tools)
    try {
      const result = await generateText({
        model: await openModel(choice, noting),
        instructions: String(system?.content ?? ''),
        messages: rest,
        output: Output.object({
          schema: jsonSchema<unknown>(schema as Parameters<typeof jsonSchema>[0]),
          name: 'proposal',
        }),
        // Providers want the tools of earlier calls described, even if no further call is allowed.
        ...(Object.keys(tools).length === 0 ? {} : { tools, toolChoice: mayCall ? 'auto' : 'none' }),
        maxOutputTokens,
        maxRetries: RETRIES_MAX,
        abortSignal: AbortSignal.any([signal, limit]),
        // The provider must not store answers; its strict mode allows no free-form object.
        providerOptions: { openai: { store: false, strictJsonSchema: false } },
        ...(temperature === undefined ? {} : { temperature }),
      })
      failuresInARow = 0
      const { text, toolCalls } = result
      spend(usage, sent, text + JSON.stringify(toolCalls), result.usage)
      if (toolCalls.length > 0) {
        if (!mayCall) return { text, calls: [], said: [], answer: { problems: NO_ANSWER } }
        const said = result.response.messages.filter(({ role }) => role === 'assistant')
        return { text, calls: toolCalls, said, answer: { problems: NO_ANSWER } }
      }
      return judge(text, result.finishReason, usage, () => result.output)
    } catch (error) {
      if (NoObjectGeneratedError.isInstance(error)) {
        failuresInARow = 0
        const text = error.text ?? ''
        spend(usage, sent, text, error.usage)
        return judge(text, error.finishReason, usage, () => {
          throw error
        })
      }
      if (ToolChoiceViolationError.isInstance(error)) {
        failuresInARow = 0
        spend(usage, sent, JSON.stringify(error.content ?? ''), undefined)
        return { text: '', calls: [], said: [], answer: { problems: NO_ANSWER } }
      }
      if (signal.aborted || error instanceof EvaluationError) throw error
      throw explain(limit.aborted ? new ProviderTimeout(status) : error, usage, ++failuresInARow)
    }
  }

  /** The answer of a model after what it looked up. An invalid one is requested again once. */
  async function converse(
    messages: ModelMessage[],
    view: ModelView,
    read: (answer: Answer) => Promise<Answer | { problems: string }>,
    made: MadeCall[],
    usage: Usage,
    signal: AbortSignal,
    reserveCost: ReserveCost,
  ): Promise<Answer> {
    const tools = toolsMax === 0 ? {} : await describeTools(view.tools)
    const until = Date.now() + LOOKING_MS_MAX
    let problems: string | null = null
    for (let turn = 0; ; turn++) {
      const cost = costAtMost(messages, tools)
      if (turn === 0) await reserveCost(cost)
      else await reserveMore(reserveCost, usage, cost, problems)
      const left = Date.now() < until ? toolsMax - made.length : 0
      const reply = await ask(messages, tools, left > 0, usage, signal)
      if (reply.calls.length > 0) {
        const results = await performCalls(view, reply.calls, made, { left, signal })
        messages.push(...reply.said, results)
        continue
      }
      const answer = 'problems' in reply.answer ? reply.answer : await read(reply.answer)
      if (!('problems' in answer)) return answer
      if (problems !== null) {
        throw new EvaluationError(`The model gave an invalid answer twice: ${answer.problems}.`, usage)
      }
      problems = answer.problems
      const again = `Your answer is not valid: ${problems}. Answer again with one JSON object that matches the schema.`
      messages.push({ role: 'assistant', content: reply.text || '(nothing)' }, { role: 'user', content: again })
    }
  }

  /** A contact's data, cut to its size. */
  async function dataFor(context: ContactContext, view: ModelView) {
    const { chosen } = await readTenant(tenant)
    const { conversations } = await conversationsOf(tenant, context.contactId, CONVERSATIONS)
    const actions = await withReply(tenant, context.contactId, context.recent_actions)
    lessons ??= agentId === null ? Promise.resolve(NO_LESSONS) : lessonsOf(tenant, door, agentId)
    const seen = withoutWithheld({ ...context, recent_actions: actions }, chosen)
    const data = fitIntoBudget(seen, conversations, await lessons)
    return { data, shown: await view.show(data) }
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
      const domains = await verifiedDomains(tenant)
      const limits = { toolsMax, redacts }
      return async (context, signal, reserveCost) => {
        const { contactId } = context
        const task = { configuration, sender, why: why(contactId), ...limits }
        const instructions = instructionsFor(task, allowed, now)
        const view = await door.open(tenant, { id: agentId ?? newId(), name: configuration.name }, redacts)
        const { data, shown } = await dataFor(context, view)
        const messages: ModelMessage[] = [
          { role: 'system', content: instructions },
          { role: 'user', content: dataMessage(shown) },
        ]
        const usage = { ...NO_USAGE }
        const made: MadeCall[] = []
        try {
          const read = (answer: Answer) => (redacts ? revealed(view, answer, contactId) : Promise.resolve(answer))
          const answer = await converse(messages, view, read, made, usage, signal, reserveCost)
          const known = [data, ...messages.flatMap((message) => view.restore(dataOf(message)))]
          const own = ['email', 'phone', 'mobilephone'].flatMap((name) => String(context.properties[name] ?? ''))
          const { variables, config } = configuration.playbook
          const sources = { instructions, settings: { variables, config }, data: known, own, domains }
          const senderName = sender === null ? '' : `${sender.firstname} ${sender.lastname}`
          const actions: Evaluation['actions'] = []
          for (const action of answer.actions) {
            const named = (text: string) =>
              door.othersNamedIn(tenant, text.replaceAll(senderName || '\n', ' '), contactId)
            actions.push({ ...action, checks: await checkTexts(action, sources, named) })
          }
          return { ...answer, actions, toolCalls: made, usage }
        } catch (error) {
          if (error instanceof EvaluationError) error.toolCalls = made
          throw error
        }
      }
    },
  }
}

const NO_ANSWER = 'it calls tools, of which no calls are left'

/** An answer with the real values. A change of a property could not be hidden again, so it takes none. */
async function revealed(
  view: ModelView,
  { reasoning, actions, dropped }: Answer,
  contactId: string,
): Promise<Answer | { problems: string }> {
  try {
    const real = await view.reveal(actions, contactId)
    const changed = real.find(({ type, params }, index) => {
      return type === 'crm_update' && JSON.stringify(params) !== JSON.stringify(actions[index]?.params)
    })
    if (changed) return { problems: 'a crm_update contains a pseudonym, which must not be stored' }
    return { reasoning: view.restore(reasoning), actions: real, dropped }
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) return { problems: error.message }
    throw error
  }
}

/**
 * Reserves the maximum cost of a further answer, in addition to the cost of those before.
 * @param problems of the answer before; null if it was calls of tools.
 */
async function reserveMore(
  reserveCost: ReserveCost,
  usage: Usage,
  costAtMost: number,
  problems: string | null,
): Promise<void> {
  try {
    await reserveCost(usage.costUsd + costAtMost)
  } catch (error) {
    if (!(error instanceof CapReached)) throw error
    const message =
      problems === null
        ? 'The model looked something up. The cost cap did not allow its answer.'
        : `The model gave an invalid answer: ${problems}. The cost cap did not allow another attempt.`
    throw new EvaluationError(message, usage)
  }
}

function textOf(messages: readonly ModelMessage[], tools: ToolSet): string {
  const text = messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('')
  return Object.keys(tools).length === 0 ? text : text + JSON.stringify(tools)
}
