import Type from 'typebox'
import { readTenant } from '../access/tenants.ts'
import { AnswerField, answerTo, inAnyRange, QuestionField } from '../insights/kinds.ts'
import { conditionsIn, type QuestionContext } from '../insights/question.ts'
import { rangeIn } from '../insights/range.ts'
import type { Values } from '../operations/declare.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { Detail, Nullable } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Dashboard, Tile } from './dashboard-object.ts'
import { Report } from './report-object.ts'
import { reportsById } from './reports.ts'

/** What a tile shows now. */
export const TileResult = Type.Object(
  {
    report: Nullable(Report, 'null for a text.'),
    question: Nullable(
      QuestionField,
      'What was asked: the question of the report with the range and the conditions of the dashboard. null for a text.',
    ),
    answer: Nullable(AnswerField, 'null for a text, and if there is an error.'),
    error: Nullable(
      Type.Object({
        code: Type.String(WORD),
        message: Type.String(TEXT),
        details: Type.Optional(Type.Array(Detail)),
      }),
      'Why the question has no answer.',
    ),
  },
  { title: 'TileResult' },
)
type TileResult = Type.Static<typeof TileResult>

const OF_TEXT: TileResult = { report: null, question: null, answer: null, error: null }

/**
 * Answers the reports of a dashboard, in the order of its tiles. One after another, so that a dashboard never takes the
 * places of other reads of its tenant; a report that several tiles show is asked once.
 * @param isGivenUp whether nobody needs the results any more: the rest is then left out.
 */
export async function runDashboard(
  context: QuestionContext,
  { tiles, range, where }: Pick<Dashboard, 'tiles' | 'range' | 'where'>,
  isGivenUp: () => boolean,
): Promise<TileResult[]> {
  const ids = tiles.flatMap(({ report_id: id }) => id ?? [])
  const reports = await reportsById(context.tenant, ids)
  const asked = new Map<string, TileResult>()
  const warnings = new Set<string>()
  const asking = { ...context, warn: (text: string) => void warnings.add(text) }
  const results: TileResult[] = []
  for (const { report_id: id = '', view } of tiles) {
    const report = reports.get(id)
    if (!report || isGivenUp()) {
      results.push(OF_TEXT)
      continue
    }
    const question = questionOf(report, { range, where, view })
    const key = JSON.stringify([id, question])
    const result = asked.get(key) ?? { report, question, ...(await answerOrError(asking, { ...report, question })) }
    asked.set(key, result)
    results.push(result)
  }
  // Once, although each question warns of the conditions of the dashboard.
  for (const warning of warnings) context.warn(warning)
  return results
}

export async function answerOrError(
  context: QuestionContext,
  report: Pick<Report, 'kind' | 'question'>,
): Promise<Pick<TileResult, 'answer' | 'error'>> {
  try {
    return { answer: await answerTo(context, report), error: null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, details } = error
    return { answer: null, error: { code, message, ...(details === undefined ? {} : { details }) } }
  }
}

/**
 * The question of a tile: with the range of the dashboard in place of its own, and the conditions of both. A number is compared,
 * and an interval that is too short for the range is replaced by a longer one.
 */
export function questionOf(
  report: Pick<Report, 'kind' | 'question'>,
  { range, where, view }: Pick<Dashboard, 'range' | 'where'> & { view: Tile['view'] },
): Values {
  const { question } = report
  const { date_from, date_to, last, ...rest } = inAnyRange(report)
  const own = Array.isArray(question.where) ? question.where : []
  return {
    ...(view === 'number' ? { compare: 'previous_period' } : {}),
    ...rest,
    ...(range ?? { date_from, date_to, last }),
    ...(where.length === 0 ? {} : { where: [...own, ...where] }),
  }
}

/**
 * Checks the range and the conditions of a dashboard.
 * @throws ServiceError 400 naming every invalid field; 403 without the scope of contacts, if conditions are about them.
 */
export async function requireDefaults(
  context: QuestionContext,
  { range, where }: { range?: Dashboard['range'] | undefined; where?: unknown[] | undefined },
): Promise<void> {
  if (range) {
    const { timeZone } = await readTenant(context.tenant)
    const read = rangeIn(range, timeZone, context.now, 'range.')
    if (Array.isArray(read)) throw validationError(read)
  }
  await conditionsIn(context, where, 'where', 'where_')
}
