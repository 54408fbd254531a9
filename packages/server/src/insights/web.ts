import Type, { type Static } from 'typebox'
import { markOfColumn } from '../events/event-object.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { type Marked, when } from '../platform/personal.ts'
import { DAY_MS } from '../platform/time.ts'
import { type AnswerInRanges, answerInRanges } from './answer-in-ranges.ts'
import { INTERVALS, type IntervalUnit, intervalsOf, LongerInterval, unitOf } from './intervals.ts'
import {
  type Asked,
  compileMeant,
  EventMeant,
  IntervalKey,
  Label,
  labelOf,
  QUESTION_FIELDS,
  type QuestionContext,
  readQuestion,
} from './question.ts'
import type { Range } from './range.ts'
import { countOfAll, SampleAnswered } from './sample.ts'
import { readFigures } from './web-figures.ts'
import { readGoals } from './web-goals.ts'
import { COLUMN_OF_LIST, WEB_LISTS, type WebList, type WebQuery } from './web-visits.ts'

const [LIMIT_MAX, LIMIT_DEFAULT] = [100, 10]
const [GOALS_MAX, VISIT_MAX] = [10, 20]
const VALUE_LENGTH_MAX = 16_384
/** An hour of two days, or a day of a quarter, is as much as a chart shows well. */
const [HOURS_UP_TO_DAYS, DAYS_UP_TO_DAYS] = [2.1, 92.1]

/** Of what a list's values are marked as: they are those of a column of events. */
function markOf(list: WebList): Marked {
  return markOfColumn(COLUMN_OF_LIST[list])
}

/** A value of the list that is named beside it. Only cities are hidden as parts of addresses. */
const ValueBeside = Type.Union([Type.String({ maxLength: VALUE_LENGTH_MAX }), Type.Null()], {
  description: 'A value of the list; null: without one.',
  ...when('list', ['city'], markOf('city'), markOf('page')),
})
const ListName = Type.Unsafe<WebList>({ type: 'string', enum: WEB_LISTS, description: 'A list of the answer.' })

/** A row of a list. */
export const WebRowName = Type.Object(
  { list: ListName, value: ValueBeside },
  { title: 'WebRowName', additionalProperties: false },
)
export type WebRowName = Static<typeof WebRowName>

export const WEB_INPUT = {
  ...QUESTION_FIELDS,
  interval: Type.Optional(
    oneOf(INTERVALS, 'What a point covers. Default: hour for at most 2 days, day for at most 92, month for more.'),
  ),
  longer_interval: LongerInterval,
  visit: Type.Optional(
    Type.Array(WebRowName, {
      maxItems: VISIT_MAX,
      description:
        'Only the visits that these rows of lists count, and all of their page views: `[{"list": "source", "value": "google.com"}]`.',
    }),
  ),
  goals: Type.Optional(
    Type.Array(EventMeant, { maxItems: GOALS_MAX, description: 'Events that visitors are meant to do.' }),
  ),
  lists: Type.Optional(
    Type.Array(ListName, { maxItems: WEB_LISTS.length, description: 'Which lists are returned. Default: all.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: 'How many rows a list has: those of the most people.',
    }),
  ),
} as const
const Input = Type.Object(WEB_INPUT)
export type WebQuestion = Static<typeof Input>

const Share = Type.Union([Type.Number(), Type.Null()])
const FIGURES = {
  people: Type.Integer({ description: 'Different people: contacts, and visitors whom nobody knows.' }),
  visits: Type.Integer({ description: "Visits with a page view. A visit is one person's session." }),
  page_views: Type.Integer({ description: 'Page views in visits.' }),
  bounce_rate: { ...Share, description: 'The part of visits with a single page view, from 0 to 1; null of none.' },
  visit_seconds: {
    ...Share,
    description:
      'The average time from the first page view of a visit to its last one, or until that page was left; null of none.',
  },
}
export type WebFigures = Static<Type.TObject<typeof FIGURES>>

const Row = rowOf('page', 'WebRow')
/** A city is a part of an address. */
const CityRow = rowOf('city', 'WebRowOfCity')

function rowOf(list: WebList, title: string) {
  const value = Type.Union([Type.String(markOf(list)), Type.Null()], {
    description: 'null: of visits without a value.',
  })
  return Type.Object({ value, ...FIGURES }, { title })
}

function listOf(list: WebList) {
  return Type.Optional(Type.Array(list === 'city' ? CityRow : Row, { description: DESCRIPTIONS[list] }))
}

const OF_ENTRY = 'Of the first page of visits.'
const IF_ANY = `${OF_ENTRY} Visits without a value have no row.`
const DESCRIPTIONS: Record<WebList, string> = {
  source: 'The hosts that referred to the first page of visits; null: none did.',
  utm_source: IF_ANY,
  utm_medium: IF_ANY,
  utm_campaign: IF_ANY,
  utm_content: IF_ANY,
  utm_term: IF_ANY,
  page: 'The URL paths that were viewed. `page_views` are those of the page, and `visits` those that viewed it.',
  entry_page: 'The URL paths with which visits begin.',
  exit_page: 'The URL paths with which visits end.',
  country: OF_ENTRY,
  region: IF_ANY,
  city: IF_ANY,
  browser: OF_ENTRY,
  os: OF_ENTRY,
  device_type: OF_ENTRY,
}

const LISTS = Object.fromEntries(WEB_LISTS.map((list) => [list, listOf(list)])) as Record<
  WebList,
  ReturnType<typeof listOf>
>
const MORE = Object.fromEntries(WEB_LISTS.map((list) => [list, Type.Optional(Type.Integer())])) as Record<
  WebList,
  Type.TOptional<Type.TInteger>
>

const ANSWER = {
  intervals: Type.Array(IntervalKey),
  totals: Type.Object(
    { ...FIGURES, views_per_visit: { ...Share, description: 'null of no visits.' } },
    { title: 'WebTotals' },
  ),
  points: Type.Object(
    Object.fromEntries(Object.entries(FIGURES).map(([name, field]) => [name, Type.Array(field)])) as {
      [Name in keyof typeof FIGURES]: Type.TArray<(typeof FIGURES)[Name]>
    },
    { title: 'WebPoints', description: 'One figure for each interval, of the visits that begin in it.' },
  ),
  lists: Type.Object(LISTS, {
    title: 'WebLists',
    description: 'The rows of the most people first; of equals, by value, and null last.',
  }),
  more: Type.Object(MORE, { title: 'WebMore', description: 'How many further values each list has.' }),
  goals: Type.Array(
    Type.Object(
      {
        label: Label,
        people: Type.Integer({ description: 'Who did it.' }),
        events: Type.Integer({ description: 'How often it was done.' }),
        rate: { ...Share, description: 'The part of the people of `totals`; null of nobody.' },
      },
      { title: 'WebGoal' },
    ),
    { description: 'The goals, in the order that was sent.' },
  ),
  outside_visits: Type.Integer({
    description: 'Page views without a session, which are in no other figure.',
  }),
}
export const WEB_OUTPUT = {
  ...ANSWER,
  sample: SampleAnswered,
  compare: Type.Optional(
    Type.Object(ANSWER, { title: 'ComparedWeb', description: 'The answer for the compared range.' }),
  ),
}
const Answer = Type.Object(ANSWER)
export type WebPart = Static<typeof Answer>
export type WebAnswer = AnswerInRanges<WebPart>

/** How a site is used: by whom, from where, and which pages. @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function web(context: QuestionContext, sent: WebQuestion): Promise<WebAnswer> {
  const { asked, queryIn } = await readWebQuestion(context, sent)
  return answerInRanges(asked, sent, (range) => answerTo(sent, queryIn(range)))
}

/** @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function readWebQuestion(
  context: QuestionContext,
  sent: WebQuestion,
): Promise<{ asked: Asked; queryIn: (range: Range) => WebQuery }> {
  requireShown(context, sent.visit ?? [])
  const asked = await readQuestion(context, sent)
  const goals = await compileMeant(context, sent.goals ?? [], 'goals')
  const queryIn = (range: Range): WebQuery => {
    const intervals = intervalsOf(unitOf(sent, asked, intervalFor(range)), range, asked.zone)
    if (Array.isArray(intervals)) throw validationError(intervals)
    return { asked, range, intervals, only: sent.visit ?? [], goals }
  }
  return { asked, queryIn }
}

/**
 * Refuses rows whose values are hidden from who asks: by trying names, one would learn where somebody is.
 * @throws ServiceError 400 `hidden_property`
 */
export function requireShown({ visibleOnly }: QuestionContext, rows: readonly WebRowName[]): void {
  const hidden = visibleOnly ? rows.find(({ list }) => 'kind' in markOf(list)['x-personal']) : undefined
  if (hidden === undefined) return
  const message = `Values of ${hidden.list} are hidden from this connection, so a question cannot be about one of them. Use another list, such as country.`
  throw new ServiceError(400, 'hidden_property', message)
}

function intervalFor({ fromMs, untilMs }: Range): IntervalUnit {
  const days = (untilMs - fromMs) / DAY_MS
  if (days <= HOURS_UP_TO_DAYS) return 'hour'
  return days <= DAYS_UP_TO_DAYS ? 'day' : 'month'
}

async function answerTo(
  { goals = [], lists: listed = WEB_LISTS, limit = LIMIT_DEFAULT }: WebQuestion,
  query: WebQuery,
) {
  const wanted = WEB_LISTS.filter((list) => listed.includes(list))
  const { total, points, lists, more, outsideVisits } = await readFigures(query, wanted, limit)
  const reached = await readGoals(query)
  const { sample } = query.asked
  const figures = points.map((each) => ofAll(each, sample))
  const each = <Name extends keyof WebFigures>(name: Name) => figures.map((point) => point[name])
  return {
    intervals: query.intervals.keys,
    totals: { ...ofAll(total, sample), views_per_visit: total.visits === 0 ? null : total.page_views / total.visits },
    points: {
      people: each('people'),
      visits: each('visits'),
      page_views: each('page_views'),
      bounce_rate: each('bounce_rate'),
      visit_seconds: each('visit_seconds'),
    },
    lists: Object.fromEntries(
      Object.entries(lists).map(([list, rows]) => [list, rows.map((row) => ofAll(row, sample))]),
    ),
    more,
    goals: goals.map((goal, index) => {
      const { people, events } = reached[index] ?? { people: 0, events: 0 }
      const rate = total.people === 0 ? null : people / total.people
      return { label: labelOf(goal), people: countOfAll(people, sample), events: countOfAll(events, sample), rate }
    }),
    outside_visits: countOfAll(outsideVisits, sample),
  }
}

/** Figures of all people, of those in a sample. */
function ofAll<Figures extends Pick<WebFigures, 'people' | 'visits' | 'page_views'>>(
  figures: Figures,
  sample: number,
): Figures {
  const { people, visits, page_views } = figures
  return {
    ...figures,
    people: countOfAll(people, sample),
    visits: countOfAll(visits, sample),
    page_views: countOfAll(page_views, sample),
  }
}
