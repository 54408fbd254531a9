import Type from 'typebox'
import { Nullable } from '../platform/http/responses.ts'

const Day = Type.Object({ date: Type.String(), events: Type.Integer(), visitors: Type.Integer() })

const FIGURES = {
  visitors: Type.Integer(),
  identified_contacts: Type.Integer(),
  events: Type.Integer(),
  contacts_created: Type.Integer(),
  by_day: Type.Array(Day, { description: 'Every day (UTC) of the range, also days without events.' }),
}

/** What the first page shows. Events of bots count nowhere in it. */
export const Overview = {
  from: Type.String(),
  to: Type.String(),
  ...FIGURES,
  top_pages: Type.Array(Type.Object({ url_path: Type.String(), views: Type.Integer(), visitors: Type.Integer() })),
  sources: Type.Array(Type.Object({ source: Nullable(Type.String()), visitors: Type.Integer() }), {
    description: 'The sites that visits came from; null for visits without a referrer.',
  }),
  previous: Type.Object(FIGURES, { description: 'The figures of the range of equal length before.' }),
  waiting_for_approval: Type.Integer(),
}
export type Overview = Type.Static<Type.TObject<typeof Overview>>
