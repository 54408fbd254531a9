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
import { bag, count, listOf, pageOf, record, text } from './outputs.ts'

const QUESTIONS: Record<InsightKind, string> = {
  trend:
    'trend, figures over time: {"series":[{"event":"signup","metric":"unique_people"}],"interval":"day","breakdown":["country"]}. ' +
    'A series may have where, label, and property for sum, avg, min, max, median and p90; metric is count by default. formula: "B / A" of the series A and B. ',
  funnel:
    'funnel, who goes through steps: {"steps":[{"event":"page_view"},{"event":"signup"}],"window":{"value":7,"unit":"day"}}. order: ordered, strict or any; count_by: people or sessions; exclude; breakdown. ',
  retention:
    'retention, who comes back: {"start":{"event":"signup"},"return":"any","interval":"week","intervals":8}. start may be "first_seen"; mode: on or on_or_after. ',
  paths: 'paths, which ways sessions take: {"kind":"pages","depth":4}, with from or to, a node to begin or end with. ',
  web: 'web, the figures of websites: {"goals":[{"event":"signup"}]}: people, visits, bounce rate, and lists (source, utm_campaign, page, entry_page, exit_page, country, device_type and others). lists chooses some; visit: [{"list":"source","value":"google.com"}] only these visits. ',
}

const question = Type.Unsafe<Values>({
  type: 'object',
  description:
    `${Object.values(QUESTIONS).join('')}All kinds take last, e.g. {"value":30,"unit":"day"} (hour, day, week, month), or date_from and date_to; ` +
    'time_zone; compare: "previous_period"; and where, conditions on events such as [{"property":"data.plan","operator":"equals","value":"pro"}], ' +
    'with the operators of segment filters and the properties url_path, country, utm_source, data.<path>, contact.<key>, company.<key>. breakdown takes the same properties. ' +
    'sample: 0.1 estimates the answer from a tenth of the people, for a question that is too expensive.',
})

const kind = Type.Enum([...INSIGHT_KINDS])
const at = Type.Unsafe<Values>({
  type: 'object',
  description:
    'Which number. trend: {"series":"A","interval":"2026-10-25","breakdown":["DE"]}; funnel: {"step":2,"dropped":true} for those who went no further; ' +
    'retention: {"cohort":"2026-W43","interval":1}; paths: {"step":1,"from":"/","to":"/pricing"} or {"step":1,"name":"/"}.',
})

/** The operation that answers a kind of question. */
function operationOf(kind: InsightKind): string {
  return `insight${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

const ALERT_ROW = {
  ...{ alert_id: text, name: text, report_id: text, report_name: text, at: bag, condition: bag },
  ...{ state: text, last_interval: text, last_value: Type.Number(), triggered_at: text },
}
const REPORT_ROW = { report_id: text, name: text, kind: text, updated_at: text }

export const INSIGHT_TOOLS: readonly Tool[] = [
  tool({
    name: 'run_insight',
    title: 'Ask about behavior over time',
    description:
      'Answers a question about events over time. People are counted once across their devices and their anonymous past. For a single table of counts, use aggregate; for who is behind a number, insight_people.',
    uses: INSIGHT_KINDS.map(operationOf),
    input: { kind, question },
    output: { answer: bag, warnings: listOf(Type.String()) },
    async run(call, { kind, question: sent }) {
      await checkComparisons(call, 'contacts', sent)
      call.refusePseudonyms(sent)
      return answered(call, await call.operate(operationOf(kind), sent))
    },
  }),
  tool({
    name: 'insight_people',
    title: 'Count the people behind a number',
    description:
      'How many contacts and anonymous visitors a number of run_insight counts, and a filter for them: it lists them in search_contacts, and as people of aggregate (group_by contact_id: the most active) or of another question, only their events count.',
    uses: ['insightPeople'],
    input: { kind, question, at },
    output: { filter: bag, contacts: count, anonymous: count, warnings: listOf(Type.String()) },
    async run(call, { kind, question: sent, at }) {
      await checkComparisons(call, 'contacts', sent)
      call.refusePseudonyms({ sent, at })
      const people = await call.operate('insightPeople', { kind, question: sent, at })
      return { ...pick(people, ['filter', 'contacts', 'anonymous']), ...warned(call) }
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
    name: 'list_alerts',
    title: 'List alerts',
    description:
      'The numbers of reports that are watched, and whether each is beyond its limit now (state fired). The alert that changed last is first.',
    uses: ['listAlerts'],
    input: {
      query: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words that must all occur in the name.' })),
      ...pageInput,
    },
    output: pageOf('alerts', ALERT_ROW),
    async run(call, { query, limit = 25, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listAlerts', { search: query, ...place })
      return listResult('alerts', rowsOf(result.alerts, Object.keys(ALERT_ROW)), place, totalOf(result))
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
  return { answer: compactRecord(answer), ...warned(call) }
}

function warned({ warnings }: ToolCall): Values {
  return warnings.length > 0 ? { warnings } : {}
}
