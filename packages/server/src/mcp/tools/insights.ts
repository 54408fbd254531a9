import Type from 'typebox'
import { INSIGHT_KINDS } from '../../conditions/language.ts'
import type { InsightKind } from '../../insights/kinds.ts'
import type { Values } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, type ToolCall, tool } from '../tool.ts'
import { checkComparisons } from './comparisons.ts'
import { rowsOf, totalOf } from './contacts.ts'
import { pageInput } from './inputs.ts'
import { bag, listOf, pageOf, record, text } from './outputs.ts'

const QUESTIONS: Record<InsightKind, string> = {
  trend:
    'trend, figures over time: {"series":[{"event":"signup","metric":"unique_people"}],"interval":"day","breakdown":["country"]}. ' +
    'A series may have where, label, and property for sum, avg, min, max, median and p90; metric is count by default. formula: "B / A" of the series A and B. ',
  funnel:
    'funnel, who goes through steps: {"steps":[{"event":"page_view"},{"event":"signup"}],"window":{"value":7,"unit":"day"}}. order: ordered, strict or any; count_by: people or sessions; exclude; breakdown. ',
  retention:
    'retention, who comes back: {"start":{"event":"signup"},"return":"any","interval":"week","intervals":8}. start may be "first_seen"; mode: on or on_or_after. ',
  paths: 'paths, which ways sessions take: {"kind":"pages","depth":4}, with from or to, a node to begin or end with. ',
}

const question = Type.Unsafe<Values>({
  type: 'object',
  description:
    `${Object.values(QUESTIONS).join('')}All kinds take last, e.g. {"value":30,"unit":"day"} (hour, day, week, month), or date_from and date_to; ` +
    'time_zone; compare: "previous_period"; and where, conditions on events such as [{"property":"data.plan","operator":"equals","value":"pro"}], ' +
    'with the operators of segment filters and the properties url_path, country, utm_source, data.<path>, contact.<key>, company.<key>.',
})

/** The operation that answers a kind of question. */
function operationOf(kind: InsightKind): string {
  return `insight${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

const REPORT_ROW = { report_id: text, name: text, kind: text, updated_at: text }

export const INSIGHT_TOOLS: readonly Tool[] = [
  tool({
    name: 'run_insight',
    title: 'Ask about behavior over time',
    description:
      'Answers a question about events over time. People are counted once across their devices and their anonymous past. For a single table of counts, use aggregate.',
    uses: INSIGHT_KINDS.map(operationOf),
    input: { kind: Type.Enum([...INSIGHT_KINDS]), question },
    output: { answer: bag, warnings: listOf(Type.String()) },
    async run(call, { kind, question: sent }) {
      await checkConditions(call, sent)
      call.refusePseudonyms(sent)
      return answered(call, await call.operate(operationOf(kind), sent))
    },
  }),
  tool({
    name: 'list_reports',
    title: 'List reports',
    description: 'The questions about events that people saved, the one that changed last first.',
    uses: ['listReports'],
    input: {
      query: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words that must all occur in the name.' })),
      ...pageInput,
    },
    output: pageOf('reports', REPORT_ROW),
    async run(call, { query, limit = 25, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listReports', { search: query, ...place })
      return listResult('reports', rowsOf(result.reports, Object.keys(REPORT_ROW)), place, totalOf(result))
    },
  }),
  tool({
    name: 'get_report',
    title: 'Get a report',
    description: 'A saved question about events, with its answer as of now.',
    uses: ['runReport'],
    input: { report_id: idInput() },
    output: { report: record({ ...REPORT_ROW, question: bag }), answer: bag, warnings: listOf(Type.String()) },
    async run(call, { report_id }) {
      const { report, answer } = await call.operate('runReport', { report_id })
      const shown = pick(report, [...Object.keys(REPORT_ROW), 'question'])
      return { ...compactRecord({ report: shown }), ...answered(call, answer) }
    },
  }),
]

/** A model would take a misspelled property for one without values. */
function answered(call: ToolCall, answer: unknown): Values {
  return { answer: compactRecord(answer), ...(call.warnings.length > 0 ? { warnings: call.warnings } : {}) }
}

const OWNER = /^(contact|company|data)\./

/** Refuses conditions that would reveal a hidden value step by step. @throws ServiceError 400 `hidden_property` */
async function checkConditions(call: ToolCall, sent: Values): Promise<void> {
  const conditions = conditionsIn(sent)
  const isOfCompany = ({ property }: Values) => String(property).startsWith('company.')
  const named = (each: Values) => ({ ...each, property: String(each.property).replace(OWNER, '') })
  await checkComparisons(call, 'companies', conditions.filter(isOfCompany).map(named))
  await checkComparisons(call, 'contacts', conditions.filter((each) => !isOfCompany(each)).map(named))
}

/** Everything in a question that names a property, at any depth. */
function conditionsIn(value: unknown): Values[] {
  if (value === null || typeof value !== 'object') return []
  const own = 'property' in value && 'operator' in value ? [value as Values] : []
  return [...own, ...Object.values(value).flatMap(conditionsIn)]
}
