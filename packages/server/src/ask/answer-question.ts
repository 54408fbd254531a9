import type { ModelMessage, ToolSet } from 'ai'
import { tokensAtMost } from '../agents/reasoning/budget.ts'
import { addUsage, loadSdk } from '../agents/reasoning/model-usage.ts'
import { type ModelChoice, openModel } from '../agents/reasoning/models.ts'
import { costOf, type Price } from '../agents/reasoning/prices.ts'
import type { Usage } from '../agents/reasoning/reasoner.ts'
import type { PrepaidCosts } from '../agents/runs/prepaid-costs.ts'
import { lookUp, plainSchema } from '../mcp/look-up.ts'
import type { Redactor } from '../mcp/redaction/redactor.ts'
import { asMarkedText } from '../mcp/results.ts'
import type { Tool, ToolCall } from '../mcp/tool.ts'
import { DESCRIBE_SCHEMA } from '../mcp/tools/describe-schema.ts'
import type { Values } from '../operations/declare.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'

/** Rounds of calls before the model must answer with what it has. */
const ROUNDS_MAX = 6
/** Calls of one round; more are refused, so that a model cannot start a flood. */
const CALLS_OF_ROUND_MAX = 4
const OUTPUT_TOKENS_MAX = 2_000
const RETRIES_MAX = 2

/** A call of a tool, as people see it below the answer. */
export interface MadeCall {
  tool: string
  title: string
  arguments: Record<string, unknown>
  /** Why it failed; null if it succeeded. */
  error: string | null
}

interface Asking {
  question: string
  tools: readonly Tool[]
  call: ToolCall
  /** Hides personal values from the model. */
  redactor: Redactor
  model: ModelChoice
  price: Price | null
  costs: Pick<PrepaidCosts, 'reserve' | 'charge'>
  llmFetch: Pick<ApiFetch, 'fetch'>
  /** What the answer costs is added to it. */
  usage: Usage
  /** Calls are added to it. */
  calls: MadeCall[]
  signal: AbortSignal
}

/**
 * Lets a model answer a question with tools that only read. It sees what the tools return, with personal values hidden,
 * and nothing else. @returns Markdown, with pseudonyms
 * @throws CapReached; the SDK's errors if the provider fails
 */
export async function answerQuestion(asking: Asking): Promise<string> {
  const { tools, call, redactor, model, price, costs, llmFetch, usage, calls, signal } = asking
  const { generateText, jsonSchema, tool: describeTool } = await loadSdk()
  const schema = await DESCRIBE_SCHEMA.run(call, {})
  const instructions = instructionsFor(call.now, asMarkedText(schema as Values))
  const offered: ToolSet = Object.fromEntries(
    tools.map((each) => [
      each.name,
      describeTool({ description: each.description, inputSchema: jsonSchema(plainSchema(each.input)) }),
    ]),
  )
  const question = await redactor.redactText(asking.question)
  const messages: ModelMessage[] = [{ role: 'user', content: question }]

  for (let round = 0; ; round++) {
    const isLast = round === ROUNDS_MAX
    const sent = instructions + JSON.stringify(messages) + (isLast ? '' : JSON.stringify(offered))
    await costs.reserve(costOf(price, tokensAtMost(sent), OUTPUT_TOKENS_MAX))
    const before = usage.costUsd
    try {
      const result = await generateText({
        model: await openModel(model, llmFetch.fetch),
        instructions,
        messages,
        ...(isLast ? {} : { tools: offered }),
        maxOutputTokens: OUTPUT_TOKENS_MAX,
        maxRetries: RETRIES_MAX,
        abortSignal: signal,
        // The provider must not store answers.
        providerOptions: { openai: { store: false } },
      })
      addUsage(usage, price, { sent, text: result.text, counted: result.usage })
      if (isLast || result.toolCalls.length === 0) {
        return result.text.trim() || 'I found no answer.'
      }
      messages.push(...result.response.messages)
      const made = await Promise.all(
        result.toolCalls.map(async ({ toolCallId, toolName, input }, index) => {
          const isTooMany = index >= CALLS_OF_ROUND_MAX
          const { text: value, ...rest } = await make(tools, { call, redactor }, { toolName, input, isTooMany })
          const output = { type: 'text' as const, value }
          return { ...rest, part: { type: 'tool-result' as const, toolCallId, toolName, output } }
        }),
      )
      calls.push(...made.map((each) => each.call))
      messages.push({ role: 'tool', content: made.map(({ part }) => part) })
    } finally {
      await costs.charge(usage.costUsd - before)
    }
  }
}

interface Wanted {
  toolName: string
  input: unknown
  isTooMany: boolean
}

async function make(
  tools: readonly Tool[],
  { call, redactor }: Pick<Asking, 'call' | 'redactor'>,
  { toolName, input, isTooMany }: Wanted,
) {
  const tool = tools.find(({ name }) => name === toolName)
  const given = (input ?? {}) as Record<string, unknown>
  const made: MadeCall = { tool: toolName, title: tool?.title ?? toolName, arguments: given, error: null }
  const fail = (error: string) => ({ call: { ...made, error }, text: error })
  if (tool && isTooMany) return fail(`At most ${CALLS_OF_ROUND_MAX} calls at a time. Make this one in the next round.`)
  const { text, error } = await lookUp(tools, { call, redactor }, { name: toolName, input: given })
  return error === null ? { call: made, text } : fail(error)
}

function instructionsFor(now: Date, schema: string): string {
  return [
    'You answer questions of a growth team about the contacts, companies and events of their workspace, using the tools.',
    `It is ${now.toISOString()}. Times are UTC; "this week" means the last 7 days unless the question says otherwise.`,
    'Use as few calls as possible. Count with total, count_only or aggregate instead of reading rows. Prefer one filter with event conditions over many searches.',
    'Use run_insight for figures over time, for where people drop off (funnel), who comes back (retention) and which ways they take (paths). For who they are, give insight_people the same question and the number; its filter works in search_contacts and, as people, in aggregate.',
    'Answer in Markdown, in at most 12 lines: first the answer itself with its numbers, then at most 10 names or rows. Say which period and which condition you used. If the data does not answer the question, say so and say what is missing; never invent numbers.',
    'Personal data is hidden behind pseudonyms such as email:019a… Write them exactly as they are, for example "firstname:019a… lastname:019a…": the reader sees the real values.',
    `The workspace, as describe_schema returns it:\n${schema}`,
  ].join('\n')
}
