import type { CreateReportInput, Tile } from '../../api/types.ts'
import { FUNNEL, PATHS, RETENTION, TREND } from '../kinds.ts'
import { text } from './text.ts'

const words = text.growth

interface ReadyMade {
  report: CreateReportInput
  tiles: Omit<Tile, 'report_id'>[]
}

/** The reports of the ready-made dashboard about the events that there are, and their tiles. @param events most frequent first; at least one */
export function growthOf(events: readonly string[]): ReadyMade[] {
  const signUp = events.find((name) => SIGN_UP.test(name))
  const first = events.includes('page_view') ? 'page_view' : undefined
  const isFunnelOfSignUps = signUp !== undefined && first !== undefined
  const funnel = FUNNEL.propose(isFunnelOfSignUps ? [first, signUp] : events)
  const paths = PATHS.propose(events)
  return [
    {
      report: {
        name: words.people,
        kind: 'trend',
        question: { ...TREND.propose([]) },
      },
      tiles: [
        { view: 'number', x: 0, y: 0, width: 4, height: 2 },
        { x: 0, y: 2, width: 8, height: 5 },
      ],
    },
    {
      report: { name: isFunnelOfSignUps ? words.signUps : words.steps, kind: 'funnel', question: { ...funnel } },
      tiles: [
        { view: 'number', x: 4, y: 0, width: 4, height: 2 },
        { x: 8, y: 2, width: 4, height: 5 },
      ],
    },
    {
      report: { name: words.retention, kind: 'retention', question: { ...RETENTION.propose(events) } },
      tiles: [
        { view: 'number', x: 8, y: 0, width: 4, height: 2 },
        { x: 0, y: 7, width: 12, height: 6 },
      ],
    },
    {
      report: {
        name: paths.kind === 'events' ? words.events : words.pages,
        kind: 'paths',
        question: { ...paths },
      },
      tiles: [{ x: 0, y: 13, width: 12, height: 6 }],
    },
  ]
}

/** Names that events have with which people become users. */
const SIGN_UP = /^(user[ _-]?)?(sign(ed)?[ _-]?up|regist(er(ed)?|ration)|account[ _-]created|form_submitted)/i
