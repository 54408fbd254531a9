import Type from 'typebox'
import { Nullable } from '../platform/http/responses.ts'

const Day = Type.Object({ date: Type.String(), events: Type.Integer(), visitors: Type.Integer() })

const FIGURES = {
  visitors: Type.Integer(),
  identified_contacts: Type.Integer(),
  events: Type.Integer(),
  contacts_created: Type.Integer(),
  by_day: Type.Array(Day, { description: 'Every day (UTC) of the range, including days without events.' }),
}

/** The figures of the dashboard's first page, without events from bots. */
export const Overview = {
  from: Type.String(),
  to: Type.String(),
  ...FIGURES,
  top_pages: Type.Array(Type.Object({ url_path: Type.String(), views: Type.Integer(), visitors: Type.Integer() })),
  sources: Type.Array(Type.Object({ source: Nullable(Type.String()), visitors: Type.Integer() }), {
    description: 'The hosts that referred visits; null for visits without a referrer.',
  }),
  previous: Type.Object(FIGURES, { description: 'The figures of the preceding range of the same length.' }),
  waiting_for_approval: Type.Integer(),
}
export type Overview = Type.Static<Type.TObject<typeof Overview>>
