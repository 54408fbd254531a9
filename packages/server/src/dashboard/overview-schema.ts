import Type from 'typebox'
import { Nullable } from '../platform/http/responses.ts'

const Day = Type.Object({ date: Type.String(), events: Type.Integer(), visitors: Type.Integer() })

const FIGURES = {
  visitors: Type.Integer(),
  identified_contacts: Type.Integer(),
  events: Type.Integer(),
  contacts_created: Type.Integer(),
  /** Every day (UTC) of the range, also those without events. */
  by_day: Type.Array(Day),
}

/** What the first page shows. Events of bots count nowhere in it. */
export const Overview = Type.Object({
  from: Type.String(),
  to: Type.String(),
  ...FIGURES,
  top_pages: Type.Array(Type.Object({ url_path: Type.String(), views: Type.Integer(), visitors: Type.Integer() })),
  /** Where visits began; null: directly, or on a page that hides it. */
  sources: Type.Array(Type.Object({ source: Nullable(Type.String()), visitors: Type.Integer() })),
  /** The same of the range of equal length before. */
  previous: Type.Object(FIGURES),
  waiting_for_approval: Type.Integer(),
})
export type Overview = Type.Static<typeof Overview>
