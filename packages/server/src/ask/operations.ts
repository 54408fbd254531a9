import Type from 'typebox'
import { readAgentSettings } from '../agents/actions/settings.ts'
import { chooseModel, type LlmSettings, type ModelChoice } from '../agents/reasoning/models.ts'
import { priceOf } from '../agents/reasoning/prices.ts'
import { explain, ProviderTimeout } from '../agents/reasoning/provider-failure.ts'
import { CapReached, NO_USAGE, type Usage } from '../agents/reasoning/reasoner.ts'
import { PrepaidCosts } from '../agents/runs/prepaid-costs.ts'
import { TokenUsage } from '../agents/runs/run-object.ts'
import { openCall, type ToolServices } from '../mcp/call.ts'
import { toolsToLookUp } from '../mcp/look-up.ts'
import { restoreValues } from '../mcp/redaction/pseudonyms.ts'
import type { Redactor } from '../mcp/redaction/redactor.ts'
import { audit } from '../operations/audit.ts'
import { type Context, operationsWith } from '../operations/declare.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { Nullable } from '../platform/http/responses.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { bag, TEXT, WORD } from '../platform/personal.ts'
import { answerQuestion, type MadeCall } from './answer-question.ts'
import { restoreAnswer } from './restore.ts'

export interface AskServices {
  config: { llm: LlmSettings }
  llmOutbound: Pick<ApiFetch, 'fetch'>
  toolServices: ToolServices
}

const tag = 'Ask'
/** Questions of a tenant at the same time in a process: their callers wait for them. */
const AT_ONCE = 3
const ANSWER_MS_MAX = 90_000
const WATCH_MS = 500

const underWay = new Map<string, number>()

const Call = Type.Object(
  {
    tool: Type.String({ examples: ['search_contacts'], ...WORD }),
    title: Type.String(WORD),
    arguments: Type.Record(Type.String(), Type.Unknown(), { examples: [{ count_only: true }], ...bag('query') }),
    error: Nullable(Type.String(TEXT), 'Why it failed; the model then tried something else.'),
  },
  { title: 'ToolCall' },
)

const askOperation = operationsWith<AskServices>()

/** Questions about the workspace's data, which the configured model answers with the tools of the MCP server. */
export const ASK_OPERATIONS = [
  askOperation({
    name: 'getAskModel',
    tag,
    http: 'GET /v1/ask',
    command: 'ask-model get',
    scope: 'agents:read',
    summary: 'Get the model that answers questions',
    input: {},
    output: { model: Nullable(Type.String(WORD), 'null if none is configured: questions then cannot be asked.') },
    run: async ({ config }) => ({ model: chooseModel(config.llm, {})?.model ?? null }),
  }),
  askOperation({
    name: 'ask',
    tag,
    http: 'POST /v1/ask',
    command: 'ask',
    scope: 'agents:trigger',
    summary: 'Ask a question about the data',
    description:
      'The configured model answers with the read-only tools of the MCP server, within the caller’s scopes. It sees pseudonyms in place of personal values; the answer has the real ones. The cost counts towards the monthly cap, and the audit log has an entry. If a request is interrupted, a retry asks the model again, at a cost.',
    input: {
      question: Type.String({ minLength: 3, maxLength: 2_000, examples: ['Who looked at pricing twice this week?'] }),
    },
    output: {
      answer: Type.String({
        description: 'Markdown. Names of contacts link to their pages in the dashboard.',
        ...TEXT,
      }),
      calls: Type.Array(Call, { description: 'What the model looked up, in order.' }),
      model: Type.String(WORD),
      usage: TokenUsage,
    },
    example: { question: 'Who looked at pricing twice this week and got no reply?' },
    errors: ['409 no_model', '409 too_many_questions', '409 cost_cap_reached', '409 price_unknown', '502 model_failed'],
    async run(context, { question }) {
      const { config, tenant } = context
      const model = chooseModel(config.llm, {})
      if (model === null) throw noModel()
      const redactor = await context.toolServices.openRedactor(tenant)
      const usage = { ...NO_USAGE }
      const calls: MadeCall[] = []
      const answer = await bounded(context, (signal) =>
        ask(context, { question, model, redactor, usage, calls, signal }),
      )
      return {
        answer: restoreAnswer(answer, redactor.issued),
        calls: calls.map((call) => ({
          ...call,
          arguments: restoreValues(call.arguments, redactor.issued),
        })),
        model: model.model,
        usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, cost_usd: usage.costUsd },
      }
    },
    // The model is called outside a transaction, and a question that fails has cost money too.
    audit: 'own',
  }),
]

interface Asked {
  question: string
  model: ModelChoice
  redactor: Redactor
  /** What it has cost so far. */
  usage: Usage
  calls: MadeCall[]
  signal: AbortSignal
}

async function ask(
  { config, llmOutbound, toolServices, tenant, actor, scopes, now }: Context & AskServices,
  { question, model, redactor, usage, calls, signal }: Asked,
): Promise<string> {
  const price = priceOf(model.model, config.llm.prices)
  const { monthly_cost_cap_usd: perMonth } = await readAgentSettings(tenant)
  if (price === null && perMonth !== null) {
    const message = `The price of ${model.model} is not known, so the monthly cost cap cannot be enforced. Set the price in CDS_LLM_PRICES (0 for a model of your own), or remove the cap.`
    throw conflict('price_unknown', message)
  }
  const call = openCall(toolServices, { tenant, actor, scopes }, redactor, async () => ({ isConfirmed: false }))
  const tools = toolsToLookUp(toolServices.operations, scopes).filter(({ name }) => name !== 'describe_schema')
  const costs = new PrepaidCosts(tenant, { perRun: null, perMonth }, now)
  try {
    const asking = { question, tools, call, redactor, model, price, costs, llmFetch: llmOutbound, usage, calls, signal }
    return await answerQuestion(asking)
  } catch (error) {
    if (error instanceof CapReached) throw conflict('cost_cap_reached', error.message)
    if (error instanceof ServiceError) throw error
    // The SDK's errors contain the whole request, so they are not passed on.
    const reason = signal.aborted ? new ProviderTimeout(null) : error
    throw new ServiceError(502, 'model_failed', explain(reason, NO_USAGE, 0).message)
  } finally {
    // A question that fails costs money too.
    const details = { model: model.model, calls: calls.length, cost_usd: usage.costUsd }
    await audit(tenant, { actor, action: 'question.asked', subjectKind: 'question', subjectId: null, details }, now)
  }
}

/** Limits how many questions are answered at once, and how long. */
async function bounded<T>(
  { tenant, isGivenUp }: Pick<Context, 'tenant' | 'isGivenUp'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const count = underWay.get(tenant.id) ?? 0
  if (count >= AT_ONCE) {
    throw conflict('too_many_questions', `${AT_ONCE} questions are being answered. Try again when one is.`)
  }
  underWay.set(tenant.id, count + 1)
  const givenUp = new AbortController()
  const watching = setInterval(() => isGivenUp() && givenUp.abort(), WATCH_MS)
  try {
    return await work(AbortSignal.any([givenUp.signal, AbortSignal.timeout(ANSWER_MS_MAX)]))
  } finally {
    clearInterval(watching)
    const left = (underWay.get(tenant.id) ?? 1) - 1
    if (left > 0) underWay.set(tenant.id, left)
    else underWay.delete(tenant.id)
  }
}

function noModel(): ServiceError {
  const message =
    'No language model is configured. The operator sets CDS_OPENAI_API_KEY, CDS_ANTHROPIC_API_KEY or CDS_LLM_BASE_URL.'
  return conflict('no_model', message)
}
