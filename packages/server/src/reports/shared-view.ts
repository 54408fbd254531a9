import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { readTenant } from '../access/tenants.ts'
import { AnswerField, InsightKindField, QuestionField } from '../insights/kinds.ts'
import type { InsightServices, QuestionContext } from '../insights/question.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, MINUTE_MS } from '../platform/time.ts'
import { COLUMNS, type Dashboard, PLACE, Tile } from './dashboard-object.ts'
import { readDashboard } from './dashboards.ts'
import type { Report } from './report-object.ts'
import { readReport, reportsById } from './reports.ts'
import { answerOrError, questionOf } from './run-dashboard.ts'
import type { Shared } from './share-links.ts'
import { byLetter, hiddenBreakdowns, isFiltered, visibleQuestion, withoutPeople } from './shareable.ts'

const SharedReport = Type.Object(
  {
    name: Type.String(TEXT),
    kind: InsightKindField,
    question: {
      ...QuestionField,
      description: 'The question without its conditions. `is_filtered` marks an event that has some.',
    },
    is_filtered: Type.Boolean({ description: 'Whether conditions that are not shown leave out events or people.' }),
    answer: Nullable(
      AnswerField,
      'Of a trend without a formula, the labels of the series are letters, A for the first one of the question. null if there is a `problem`.',
    ),
    problem: Nullable(
      Type.Union([Type.Literal('not_shareable'), Type.Literal('no_answer')]),
      'not_shareable: it has been changed, and its answer could now show who people are. no_answer: the question cannot be answered at the moment.',
    ),
  },
  { title: 'SharedReport' },
)

/** What anybody with the link sees. */
export const SharedView = {
  name: Type.String({ description: 'The name of the report or the dashboard.', ...TEXT }),
  kind: Type.Union([Type.Literal('report'), Type.Literal('dashboard')]),
  time_zone: Type.String({ description: 'Of days, weeks and months, if a question has no other.', ...WORD }),
  answered_at: { ...Timestamp, description: 'When the figures were computed: at most a minute ago.' },
  tiles: Type.Array(
    Type.Object(
      {
        ...PLACE,
        view: Tile.properties.view,
        text: Tile.properties.text,
        report: Type.Optional(SharedReport),
      },
      { title: 'SharedTile' },
    ),
    { description: 'A report alone is the only tile.' },
  ),
}
const View = Type.Object(SharedView)
export type SharedView = Static<typeof View>

type Subject = Pick<Dashboard, 'name' | 'tiles' | 'range' | 'where'> & Pick<SharedView, 'kind'>

const KEPT_MS = MINUTE_MS
const KEPT_MAX = 200

/** Of each link, the view of what it shows, or why there is none. */
const kept = new Map<string, { subject: string; until: number; view: Promise<SharedView> }>()

/**
 * What a link shows. It is computed at most once a minute, also when events arrive and however many ask, unless what it shows is
 * changed. @throws ServiceError 404 for what was deleted meanwhile.
 */
export async function sharedView(
  tenant: Tenant,
  services: InsightServices & { clock: Clock },
  { linkId, shared }: { linkId: string; shared: Shared },
): Promise<SharedView> {
  const now = services.clock()
  const subject = await subjectOf(tenant, shared)
  const reports = await reportsById(tenant, reportIdsOf(subject.tiles))
  const version = createHash('sha256')
    .update(JSON.stringify([subject, [...reports.values()]]))
    .digest('base64')
  const known = kept.get(linkId)
  if (known && known.subject === version && known.until > now.getTime()) return known.view
  const view = viewOf(tenant, services, subject, reports)
  kept.delete(linkId)
  if (kept.size >= KEPT_MAX) for (const oldest of kept.keys().take(1)) kept.delete(oldest)
  kept.set(linkId, { subject: version, until: now.getTime() + KEPT_MS, view })
  return view
}

async function subjectOf(tenant: Tenant, shared: Shared): Promise<Subject> {
  if ('dashboard_id' in shared) {
    const { name, tiles, range, where } = await readDashboard(tenant, shared.dashboard_id)
    return { kind: 'dashboard', name, tiles, range, where }
  }
  const { name, report_id } = await readReport(tenant, shared.report_id)
  const tile = { report_id, x: 0, y: 0, width: COLUMNS, height: COLUMNS }
  return { kind: 'report', name, tiles: [tile], range: null, where: [] }
}

async function viewOf(
  tenant: Tenant,
  services: InsightServices & { clock: Clock },
  subject: Subject,
  reports: ReadonlyMap<string, Report>,
): Promise<SharedView> {
  const now = services.clock()
  const { timeZone } = await readTenant(tenant)
  // Whoever shared it has the scopes.
  const context = { ...services, tenant, now, requireScope: () => {}, warn: () => {}, visibleOnly: false }
  const tiles: SharedView['tiles'] = []
  // One after another, so that a link never takes the places of other reads of its tenant.
  for (const { report_id: id = '', ...tile } of subject.tiles) {
    const report = reports.get(id)
    tiles.push(report ? { ...tile, report: await sharedReport(context, subject, tile, report) } : tile)
  }
  const { name, kind } = subject
  return { name, kind, time_zone: timeZone, answered_at: now.toISOString(), tiles }
}

async function sharedReport(
  context: QuestionContext,
  { range, where }: Subject,
  { view }: Pick<Tile, 'view'>,
  report: Report,
): Promise<Static<typeof SharedReport>> {
  const { name, kind } = report
  const question = questionOf(report, { range, where, view })
  const isShareable = hiddenBreakdowns(question).length === 0
  const { answer } = isShareable
    ? await answerOrError(context, { kind, question: byLetter(question) })
    : { answer: null }
  const problem = answer !== null ? null : isShareable ? 'no_answer' : 'not_shareable'
  const shown = withoutPeople({ question: visibleQuestion(question), answer })
  return { name, kind, is_filtered: isFiltered(question), problem, ...shown }
}

/** The reports of some tiles. */
export function reportIdsOf(tiles: readonly Tile[]): string[] {
  return tiles.flatMap(({ report_id: id }) => id ?? [])
}
