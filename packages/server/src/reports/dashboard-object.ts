import type { Selectable } from 'kysely'
import Type from 'typebox'
import { QUESTION_FIELDS } from '../insights/question.ts'
import { etagOf } from '../operations/etag.ts'
import { idInput } from '../platform/http/inputs.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { SharedAt } from './report-object.ts'

/** The width of the grid in which tiles are placed. */
export const COLUMNS = 12
const ROWS_MAX = 1_000
const TILE_ROWS_MAX = 50
/** Each may ask ClickHouse several times when the dashboard is run. */
const TILES_MAX = 20
const TEXT_LENGTH_MAX = 2_000
const CONDITIONS_MAX = 50

/** Where a tile is. */
export const PLACE = {
  x: Type.Integer({ minimum: 0, maximum: COLUMNS - 1, description: `The first of its columns, of ${COLUMNS}.` }),
  y: Type.Integer({ minimum: 0, maximum: ROWS_MAX, description: 'The first of its rows.' }),
  width: Type.Integer({ minimum: 1, maximum: COLUMNS, description: 'How many columns it covers.' }),
  height: Type.Integer({ minimum: 1, maximum: TILE_ROWS_MAX, description: 'How many rows it covers.' }),
}

const VIEWS = ['chart', 'number', 'table'] as const

/** A part of a dashboard: a report, or a text. */
export const Tile = Type.Object(
  {
    report_id: Type.Optional(idInput({ description: 'The report that it shows.', ...WORD })),
    view: Type.Optional(
      oneOf(
        VIEWS,
        'What it shows of the report. `number`: its main figure, beside that of the period before. Default: chart.',
      ),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TEXT_LENGTH_MAX,
        description: 'In place of a report: Markdown.',
        ...TEXT,
      }),
    ),
    ...PLACE,
  },
  { title: 'Tile', additionalProperties: false },
)
export type Tile = Type.Static<typeof Tile>

const { date_from, date_to, last } = QUESTION_FIELDS
const DashboardRange = Type.Object(
  { date_from, date_to, last },
  { title: 'DashboardRange', additionalProperties: false, description: 'In place of the ranges of its reports.' },
)

/** What a request says of a dashboard, besides its name. */
export const DASHBOARD_FIELDS = {
  tiles: Type.Array(Tile, { maxItems: TILES_MAX }),
  range: Type.Optional(
    Type.Union([DashboardRange, Type.Null()], {
      'x-expected': 'an object with last, or with date_from and date_to, or null for the ranges of the reports',
      description: 'In place of the ranges of its reports; null for none.',
    }),
  ),
  where: Type.Optional(
    Type.Array(Type.Unknown(), {
      maxItems: CONDITIONS_MAX,
      description: 'Conditions on every event, besides those of its reports; all must be true.',
    }),
  ),
} as const

/** Reports side by side. */
export const Dashboard = Type.Object(
  {
    dashboard_id: Id,
    name: Type.String({ examples: ['Growth'], ...TEXT }),
    tiles: Type.Array(Tile),
    range: Nullable(DashboardRange, 'In place of the ranges of its reports.'),
    where: Type.Array(Type.Unknown(bag('any')), {
      description: 'Conditions on every event, besides those of its reports.',
    }),
    shared_at: SharedAt,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Dashboard' },
)
export type Dashboard = Type.Static<typeof Dashboard>

export function toDashboard(row: Selectable<TenantTables['dashboards']> & { shared_at: Date | null }): Dashboard {
  return {
    dashboard_id: row.dashboard_id,
    name: row.name,
    tiles: row.tiles as unknown as Tile[],
    range: row.range as Dashboard['range'],
    where: row.conditions as unknown[],
    shared_at: row.shared_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export function etagOfDashboard({ name, tiles, range, where }: Dashboard): string {
  return etagOf(name, tiles, range, where)
}
